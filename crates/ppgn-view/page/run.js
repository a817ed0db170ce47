// One run: figures, curves, all metrics by set, confusion matrix, settings. It grows while the run trains.

import {ask, listen, query} from "./api.js";
import {curves} from "./chart.js";
import {leftOut, load} from "./epochs.js";
import {graph, key, mark, ready} from "./graph.js";
import {h, head, problem, put, waiting} from "./dom.js";
import {savers} from "./save.js";
import {simple} from "./table.js";
import {bytes, counted, duration, percent, short} from "./text.js";

const SETS = [["train", "training"], ["validation", "validation"], ["test", "test"]];

/** Of a run with averaged weights, the figures of the last weights beside theirs. */
const LAST = [["validation", "validation, last weights"], ["test", "test, last weights"]];

/** The charts of a run: {key, title, value(part), format}. */
export function figures(run) {
  const format = (m) => (m.share ? percent : short);
  return run.metrics.flatMap((m) => {
    if (!m.by_target) return [{key: m.name, title: m.title, value: (part) => part[m.name], format: format(m), gain: m.gain}];
    return run.goal.names.map((target, t) => ({key: `${m.name}/${target.name}`, title: `${m.title}, ${target.name}${target.unit ? ` (${target.unit})` : ""}`,
      value: (part) => part[m.name]?.[t], format: format(m), gain: m.gain}));
  });
}

/** A curve per set for a figure. */
function series(epochs, figure) {
  return SETS.map(([key, name]) => ({name, colour: `var(--${key})`,
    points: epochs.filter((e) => e[key] && Number.isFinite(figure.value(e[key]))).map((e) => [e.epoch, figure.value(e[key])])}))
    .concat(LAST.map(([key, name]) => ({name, colour: `var(--${key})`, dash: "3 4",
      points: epochs.filter((e) => e.last?.[key] && Number.isFinite(figure.value(e.last[key]))).map((e) => [e.epoch, figure.value(e.last[key])])})))
    .filter((c) => c.points.length > 0);
}

function facts(run) {
  const last = run.epochs.at(-1);
  const all = [];
  if (run.headline) all.push([run.headline, `${run.part} set, best epoch`]);
  if (run.best_epoch) all.push([run.best_epoch, `best epoch of ${run.epochs_done}`]);
  if (last) all.push([short(last.train.loss), "training loss now"]);
  all.push([duration(run.seconds), "for all epochs"]);
  if (last?.rate !== undefined) all.push([short(last.rate), "learning rate"]);
  return h("div", {class: "cards"}, all.map(([b, text]) => h("div", {class: "fact"}, h("b", {}, b), h("span", {}, text))));
}

/** All metrics by set, beside the baseline where the run is finished. */
function table(run) {
  const sets = run.summary?.sets;
  const best = run.epochs.find((e) => e.epoch === run.best_epoch);
  if (!sets && !best) return null;
  const parts = SETS.map(([key, name]) => [name, sets ? sets[key]?.metrics : best[key], sets?.[key]]).filter(([, part]) => part);
  const baseline = sets && parts.at(-1)[2].baseline;
  const rows = [["metric", ...parts.map(([name]) => name), ...(baseline ? [`baseline (${parts.at(-1)[0]})`] : [])],
    ...figures(run).map((f) => [f.title, ...parts.map(([, part]) => f.format(f.value(part))), ...(baseline ? [f.format(f.value(baseline))] : [])])];
  return h("section", {class: "card"}, h("div", {class: "row"}, h("h2", {class: "grow"}, sets ? "Metrics of the best network" : "Metrics at the best epoch so far"), savers({rows: () => rows, name: `${run.run}-metrics`})), simple(rows, "Metrics by set"));
}

function confusion(run) {
  const sets = run.summary?.sets;
  const [key, name] = [...SETS].reverse().find(([k]) => sets?.[k]?.confusion?.length) ?? [];
  if (!key) return null;
  const counts = sets[key].confusion;
  const names = run.goal.names;
  const rows = [["class", ...names.map((n) => `predicted ${n}`)], ...counts.map((row, i) => [names[i], ...row])];
  return h("section", {class: "card"}, h("div", {class: "row"}, h("h2", {class: "grow"}, `Confusion matrix, ${name} set`), savers({rows: () => rows, name: `${run.run}-confusion`})),
    h("p", {class: "soft small"}, "Rows are classes, columns what was predicted."),
    h("div", {class: "scroll"}, h("table", {class: "confusion"}, h("thead", {}, h("tr", {}, h("td"), names.map((n) => h("th", {scope: "col"}, n)))),
      h("tbody", {}, counts.map((row, i) => {
        const total = Math.max(1, row.reduce((a, b) => a + b, 0));
        return h("tr", {}, h("th", {scope: "row"}, names[i]), row.map((n) => h("td", {style: {background: `color-mix(in srgb, var(--accent) ${Math.round(55 * n / total)}%, transparent)`}}, n)));
      })))));
}

/** The graphs that the best network is farthest from, and predictions against the truth. */
function mistakes(name, place, signal) {
  const load = async (set) => {
    put(place, h("section", {class: "card"}, h("h2", {}, "What it gets most wrong"), waiting("Predicting ...")));
    let a;
    try {
      [a] = await Promise.all([ask("run/mistakes", {run: name, set}, signal), ready()]);
    } catch (error) {
      if (!signal.aborted) put(place, h("section", {class: "card"}, h("h2", {}, "What it gets most wrong"), problem(error)));
      return;
    }
    const names = a.goal.names.map((n) => (typeof n === "string" ? n : n.name));
    const values = (v) => v.map((x) => (x === null ? "not known" : short(x)));
    const most = (g) => g.probabilities.indexOf(Math.max(...g.probabilities));
    /** Of a run with outputs per node or per pair: the farthest ones of a graph. */
    const item = (g) => (g.nodes.length > 1 ? `(${g.nodes.join(", ")})` : `node ${g.nodes[0]}`);
    const items = (g) => [h("p", {class: "small"}, g.items[0].probabilities ? `${g.items_wrong} of ${counted(g.items_known, a.level)} wrong` : `${counted(g.items_known, a.level)}, error ${short(g.error)} deviations on average`),
      simple([[a.level, "truth", "predicted"], ...g.items.map((one) => (one.probabilities ? [item(one), names[one.truth], `${names[most(one)]}, ${percent(one.probabilities[most(one)])}`]
        : [item(one), values(one.truth).join(", "), values(one.predicted).join(", ")]))], `The farthest of graph ${g.graph}`)];
    const said = (g) => {
      if (g.items) return items(g);
      if (!g.probabilities) return h("p", {class: "small"}, names.map((n, t) => `${n}: ${short(g.predicted[t])}, truth ${short(g.truth[t])}`).slice(0, 3).join("; "));
      const best = most(g);
      return [h("p", {class: "small"}, `class ${names[g.truth]}, predicted `, h("span", {class: best === g.truth ? "good" : "bad"}, names[best])),
        h("table", {class: "small"}, h("tbody", {}, g.probabilities.map((p, c) => [p, c]).sort((x, y) => y[0] - x[0]).slice(0, 4).map(([p, c]) => h("tr", {}, h("td", {}, names[c]), h("td", {}, h("progress", {value: p, max: 1, "aria-label": `probability of ${names[c]}`})), h("td", {class: "n"}, percent(p))))))];
    };
    const rows = () => (a.level !== "graph" ? [["graph", a.level, "truth", "predicted"], ...a.worst.flatMap((g) => g.items.map((one) => [g.graph, one.nodes.join(" "), one.probabilities ? names[one.truth] : one.truth.join(" "), one.probabilities ? names[most(one)] : one.predicted.join(" ")]))]
      : [["graph", "id", "truth", "predicted", "error"], ...a.worst.map((g) => [g.graph, g.id, g.probabilities ? names[g.truth] : g.truth.join(" "), g.probabilities ? names[most(g)] : g.predicted.join(" "), g.error])]);
    const card = (g) => {
      const svg = graph(g.drawing, {legend: a.legend, label: `Graph ${g.graph}`, texts: g.items && !a.legend.molecules ? (u) => String(u) : null});
      if (g.items && svg.at) mark(svg, g.items.flatMap((one) => one.nodes), g.items.map((one) => one.nodes).filter((nodes) => nodes.length > 1));
      return h("article", {class: "card", "data-graph": g.graph}, h("h3", {}, g.id ? `Graph ${g.graph}: ${g.id}` : `Graph ${g.graph}`), said(g), svg,
        h("p", {class: "small"}, a.level === "graph" && h("a", {href: `#/network?${query({run: name, graph: g.graph})}`}, "what the network looks at"), a.data && [a.level === "graph" && " · ", h("a", {href: `#/wl?${query({a: `${a.data}:${g.graph}`, b: `${a.data}:${a.worst.find((o) => o !== g)?.graph ?? g.graph}`})}`}, "WL view")]));
    };
    const choose = h("span", {class: "tabs", role: "group", "aria-label": "Set"}, a.sets.map((one) => h("button", {type: "button", "aria-pressed": String(one === a.set), on: {click: () => load(one)}}, one === "train" ? "training" : one)));
    const parity = a.parity.map((t) => {
      const all = t.points.flatMap((p) => [p[0], p[1]]);
      const range = [Math.min(...all), Math.max(...all)];
      return curves({title: `${t.name}${t.unit ? ` (${t.unit})` : ""}: predicted against truth`, xTitle: "truth", yTitle: "predicted", dots: true,
        series: [{name: a.set, colour: `var(--${a.set})`, points: t.points.map((p) => [p[0], p[1], `graph ${p[2]}${p[3].length > 0 ? `, ${item({nodes: p[3]})}` : ""}`])}, {name: "equal", colour: "var(--soft)", line: true, dash: "4 4", points: range.map((x) => [x, x])}]});
    });
    put(place, h("section", {class: "stack", id: "mistakes"}, h("div", {class: "row"}, h("h2", {class: "grow"}, "What it gets most wrong"), choose, savers({rows, name: `${name}-mistakes`})),
      h("p", {class: "soft"}, `${a.wrong === null ? "" : `${a.wrong} of `}${counted(a.items, a.level)}${a.wrong === null ? "" : " are wrong"}${a.level === "graph" ? "" : `, in ${counted(a.looked_at, "graph")}`}${a.looked_at < a.graphs ? ` (the first of ${a.graphs})` : ""}; the graphs that are farthest from the truth first${a.level === "graph" ? "" : `, with their farthest ${a.level}s marked`}.`), key(a.legend),
      parity.length > 0 && h("div", {class: "grid"}, parity), h("div", {class: "grid four"}, a.worst.map(card))));
  };
  return load("");
}

export async function show(main, parameters, {signal}) {
  const name = parameters.get("run") ?? "";
  put(main, head(name), waiting());
  let run;
  try { run = await load(name, null, signal); } catch (error) {
    if (!signal.aborted) put(main, head(name), problem(error), h("p", {}, h("a", {href: "#/runs"}, "All runs")));
    return;
  }
  const top = h("div", {class: "stack"});
  const bottom = h("div", {class: "stack"});
  const charts = h("div", {class: "grid"});
  const drawn = new Map();
  const state = h("span", {class: "state"});
  function draw() {
    put(state, h("span", {class: `dot ${run.state}`, "aria-hidden": "true"}), run.state === "running" ? `running, ${run.epochs_done} of ${run.settings["training.epochs"]} epochs` : run.state);
    put(top, facts(run), leftOut(run) && h("p", {class: "soft", id: "thinned"}, leftOut(run)));
    const wanted = figures(run);
    // What the epoch was selected by first, then the loss.
    wanted.sort((a, b) => (b.key.startsWith(run.select) - a.key.startsWith(run.select)) || ((b.key === "loss") - (a.key === "loss")));
    for (const figure of wanted) {
      const lines = series(run.epochs, figure);
      if (lines.length === 0) continue;
      if (drawn.has(figure.key)) drawn.get(figure.key).update(lines, run.best_epoch);
      else {
        const chart = curves({title: figure.title, series: lines, format: figure.format, best: run.best_epoch});
        drawn.set(figure.key, chart);
        charts.append(chart);
      }
    }
    put(bottom, h("div", {class: "grid wide-first"}, table(run), confusion(run)));
  }
  const wrong = h("div", {class: "stack"});
  const settings = h("section", {class: "card"}, h("h2", {}, "Settings"), h("pre", {}, run.toml));
  const files = h("section", {class: "card"}, h("h2", {}, "Files"), simple([["file", "size"], ...run.files.map((f) => [f.name, bytes(f.bytes)])], "Files of the run"));
  const rows = () => {
    const all = figures(run);
    return [["epoch", "rate", ...SETS.flatMap(([, set]) => all.map((f) => `${set} ${f.key}`))],
      ...run.epochs.map((e) => [e.epoch, e.rate, ...SETS.flatMap(([key]) => all.map((f) => (e[key] ? f.value(e[key]) ?? "" : "")))])];
  };
  put(main, h("p", {class: "small"}, h("a", {href: "#/runs"}, "Runs"), " / "), head(run.run, state,
    h("span", {class: "soft"}, `${run.dataset}, ${run.preset}`), h("span", {class: "grow"}), savers({rows, name: run.run})),
  h("div", {class: "stack"}, top, charts, bottom, wrong, h("div", {class: "grid"}, settings, files)));
  draw();
  if (run.best_epoch && run.data) mistakes(run.run, wrong, signal);
  const again = async () => {
    try { run = await load(name, run, signal); draw(); } catch (error) { if (!signal.aborted) console.warn(error.message); }
  };
  listen((news) => news.rows.some((row) => row.run === run.run) && again(), signal, {connected: again});
}
export const link = (run) => `#/run?${query({run})}`;
