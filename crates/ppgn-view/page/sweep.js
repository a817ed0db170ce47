// A cross-validation, several seeds or a search: tables and plots.

import {ask, query} from "./api.js";
import {curves, tone} from "./chart.js";
import {h, head, problem, put, waiting} from "./dom.js";
import {savers} from "./save.js";
import {heads, ordered, simple} from "./table.js";
import {duration, percent, plain, short} from "./text.js";

export async function show(main, parameters, {signal, change}) {
  const folder = parameters.get("folder") ?? "";
  put(main, head(folder), waiting());
  let sweep;
  try { sweep = await ask("sweep", {folder}, signal); } catch (error) {
    if (!signal.aborted) put(main, head(folder), problem(error));
    return;
  }
  const body = h("div", {class: "stack"});
  put(main, h("p", {class: "small"}, h("a", {href: "#/runs"}, "Runs"), " / "), head(folder, h("span", {class: "soft"}, sweep.search ? "search" : sweep.seeds ? "several seeds" : "cross-validation"), h("span", {class: "grow"}),
    h("a", {class: "button", href: `#/compare?${query({run: sweep.rows.slice(0, 24).map((r) => r.run)})}`}, sweep.rows.length > 24 ? "Compare its first 24 runs" : "Compare its runs")), body);
  if (sweep.search) search(body, sweep, parameters, change);
  else if (sweep.seeds) seeds(body, sweep);
  else cv(body, sweep);
}

const fact = (b, text) => h("div", {class: "fact"}, h("b", {}, b), h("span", {}, text));
const runLink = (run) => h("a", {href: `#/run?${query({run})}`}, run);

/** The runs that belong together, one row each. */
function members(title, rows) {
  const table = [["run", "state", "best", "best epoch", "seconds"], ...rows.map((r) => [r.run, r.fields.state, r.result, r.fields.best_epoch, r.fields.seconds])];
  return h("section", {class: "card"}, h("div", {class: "row"}, h("h2", {class: "grow"}, title), savers({rows: () => table, name: title})), h("div", {class: "scroll"}, h("table", {}, h("thead", {}, h("tr", {}, table[0].map((t, i) => h("th", {scope: "col", class: i > 1 && "n"}, t)))),
    h("tbody", {}, rows.map((r) => h("tr", {}, h("td", {}, runLink(r.run)), h("td", {}, r.state ?? "damaged"), h("td", {class: "n"}, r.result), h("td", {class: "n"}, r.fields.best_epoch ?? ""), h("td", {class: "n"}, duration(r.fields.seconds))))))));
}

/** Mean and deviation of every metric over the seeds, by set. */
function seeds(body, {seeds: report, rows}) {
  const sets = Object.entries(report.sets ?? {}).filter(([, set]) => set?.metrics);
  const names = [...new Set(sets.flatMap(([, set]) => Object.keys(set.metrics)))].filter((name) => sets.some(([, set]) => typeof set.metrics[name]?.mean === "number"));
  const cell = (name, spread) => (typeof spread?.mean !== "number" ? "-" : `${name.includes("accuracy") ? percent(spread.mean) : short(spread.mean)} ± ${name.includes("accuracy") ? (100 * (spread.std ?? 0)).toFixed(1) : short(spread.std ?? 0)}`);
  const table = [["metric", ...sets.map(([set]) => set)], ...names.map((name) => [name.replaceAll("_", " "), ...sets.map(([, set]) => cell(name, set.metrics[name]))])];
  put(body, table.length > 1 && h("section", {class: "card"}, h("div", {class: "row"}, h("h2", {class: "grow"}, "Mean and deviation over the seeds"), savers({rows: () => table, name: "seeds"})), simple(table, "Metrics over seeds")), members("Seeds", rows));
}

function cv(body, {cv: report, rows, curve_step: step}) {
  const share = report?.metric === "accuracy" || report?.accuracy_mean !== undefined;
  const format = share ? percent : short;
  const parts = [];
  if (report) {
    const at = report.epoch;
    parts.push(h("div", {class: "cards"},
      report.accuracy_mean !== undefined && report.accuracy_mean !== null && fact(`${percent(report.accuracy_mean)} ± ${(100 * (report.accuracy_std ?? 0)).toFixed(1)}`, `test accuracy at epoch ${at}, the best of the mean curve (optimistic)`),
      report.fair?.mean !== undefined && report.fair?.mean !== null && fact(`${format(report.fair.mean)} ± ${share ? (100 * (report.fair.std ?? 0)).toFixed(1) : short(report.fair.std ?? 0)}`, "fair: epochs selected on validation sets"),
      fact(report.folds.length, report.folds_are ? `${report.folds_are} folds` : "folds"), fact(duration(report.seconds_training), "of training")));
    const points = (curve) => curve.map((y, i) => [1 + i * step, y]);
    parts.push(curves({title: `${report.metric ?? "accuracy"} by epoch, test sets`, format, best: at ?? null,
      series: [{name: "mean", colour: "var(--accent)", points: points(report.curve_mean)}, ...report.curves.map((c, i) => ({name: `fold ${report.folds[i]}`, colour: "var(--train)", dash: "2 3", points: points(c)}))]}));
    if (step > 1) parts.push(h("p", {class: "soft"}, `The curves have every ${step}th epoch, from the first; cv.json has all.`));
  } else parts.push(h("p", {class: "soft"}, "Not finished yet: the report comes with the last fold."));
  parts.push(members("Folds", rows));
  put(body, parts);
}

function search(body, {search: report, trials_in_all: inAll}, parameters, change) {
  const trials = report.trials;
  const names = [...new Set(trials.flatMap((t) => Object.keys(t.settings)))];
  const figure = (t) => t.held_out?.accuracy ?? (t.held_out ? t.held_out.loss : null);
  const share = trials.some((t) => t.held_out?.accuracy !== undefined && t.held_out?.accuracy !== null);
  const format = share ? percent : short;
  const what = share ? "accuracy" : "loss";
  const numeric = names.filter((n) => trials.every((t) => typeof t.settings[n] === "number"));
  let across = parameters.get("across") ?? numeric[0] ?? names[0];
  let by = parameters.get("by") ?? names.find((n) => n !== across) ?? "";
  let sort = {key: "rank", down: false};
  const columns = [{key: "rank", title: "Rank", number: true, value: (t) => t.rank}, ...names.map((n) => ({key: n, title: n, number: true, value: (t) => (typeof t.settings[n] === "number" ? t.settings[n] : plain(t.settings[n]))})),
    {key: "figure", title: `Held-out ${what}`, number: true, value: figure, down: share}, {key: "loss", title: "Loss", number: true, value: (t) => t.held_out?.loss}, {key: "epoch", title: "Best epoch", number: true, value: (t) => t.best_epoch}, {key: "seconds", title: "Time", number: true, value: (t) => t.seconds}];
  const place = h("div");
  const table = h("div", {class: "scroll"});
  function plot() {
    const groups = new Map();
    for (const t of trials) {
      if (figure(t) === null || figure(t) === undefined) continue;
      const group = by ? `${by} ${plain(t.settings[by])}` : "trials";
      if (!groups.has(group)) groups.set(group, []);
      const x = typeof t.settings[across] === "number" ? t.settings[across] : [...new Set(trials.map((u) => plain(u.settings[across])))].indexOf(plain(t.settings[across]));
      groups.get(group).push([x, figure(t), Object.entries(t.settings).map(([k, v]) => `${k} ${plain(v)}`).join(", "), t.run]);
    }
    const xs = trials.map((t) => t.settings[across]).filter((x) => typeof x === "number" && x > 0);
    const wide = xs.length === trials.length && Math.max(...xs) / Math.min(...xs) >= 20;
    const choose = (label, now, options, set) => h("label", {class: "row"}, label, h("select", {on: {change: (e) => set(e.target.value)}}, options.map((o) => h("option", {value: o, selected: o === now}, o || "nothing"))));
    put(place, h("div", {class: "row"}, choose("Across: ", across, names, (v) => { across = v; change({folder: parameters.get("folder"), across, by}); plot(); }), choose("Colours: ", by, ["", ...names], (v) => { by = v; change({folder: parameters.get("folder"), across, by}); plot(); })),
      curves({title: `Held-out ${what} against ${across}`, xTitle: across, format, dots: true, logX: wide, series: [...groups].map(([name, points], i) => ({name, colour: tone(i), points})), link: (run) => { location.hash = `#/run?${query({run})}`; }}));
  }
  function list() {
    put(table, h("table", {}, h("caption", {class: "unseen"}, "Trials"), h("thead", {}, heads([...columns, {key: "run", title: "Run"}], sort, (next) => { sort = next; list(); })),
      h("tbody", {}, ordered(trials, columns, sort).map((t) => h("tr", {}, columns.map((c) => h("td", {class: "n"}, c.key === "figure" ? (t.diverged ? "diverged" : format(c.value(t))) : c.key === "seconds" ? duration(t.seconds) : plain(c.value(t)))), h("td", {}, runLink(t.run)))))));
  }
  const rows = () => [[...columns.map((c) => c.title), "run"], ...trials.map((t) => [...columns.map((c) => c.value(t)), t.run])];
  put(body, h("div", {class: "cards"}, fact(inAll, trials.length < inAll ? `trials, the first ${trials.length} are shown` : "trials"), fact(report.best ? Object.entries(report.best).map(([k, v]) => `${k} ${plain(v)}`).join(", ") : "-", "the best settings"), fact(format(figure(trials.find((t) => t.rank === 1) ?? trials[0])), `held-out ${what} of the best`), fact(duration(report.seconds_training), "of training")),
    place, h("section", {class: "card"}, h("div", {class: "row"}, h("h2", {class: "grow"}, "Trials"), savers({rows, name: "trials"})), table));
  plot();
  list();
}
