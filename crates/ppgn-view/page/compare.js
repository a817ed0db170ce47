// Runs side by side: curves over each other, the settings that differ, figures of the best epochs.

import {listen, query} from "./api.js";
import {curves, tone} from "./chart.js";
import {h, head, problem, put, waiting} from "./dom.js";
import {leftOut, load} from "./epochs.js";
import {figures} from "./run.js";
import {savers} from "./save.js";
import {simple} from "./table.js";
import {duration, plain} from "./text.js";

/** Curves that a chart can tell apart, and more. */
const MOST = 24;
const SETS = [["validation", "validation"], ["test", "test"], ["train", "training"]];

/** The settings in which runs differ: [[name, value per run]]; what follows from others is left out. */
export function differences(runs) {
  const names = [...new Set(runs.flatMap((r) => Object.keys(r.settings)))].sort();
  const text = (r, name) => JSON.stringify(r.settings[name] ?? null);
  const differs = (name) => runs.some((r) => text(r, name) !== text(runs[0], name));
  const sameData = !differs("digest");
  return names.filter((name) => !name.startsWith("scaling") && !(name === "data" && sameData) && differs(name))
    .map((name) => [name, ...runs.map((r) => r.settings[name])]);
}

export async function show(main, parameters, {signal}) {
  const given = parameters.getAll("run");
  const names = given.slice(0, MOST);
  put(main, head("Compare"), waiting());
  if (names.length < 2) {
    put(main, head("Compare"), h("p", {}, "Tick two runs or more in the ", h("a", {href: "#/runs"}, "list of runs"), "."));
    return;
  }
  let runs = [];
  const look = async () => { runs = await Promise.all(names.map((run, i) => load(run, runs[i], signal))); };
  try { await look(); } catch (error) {
    if (!signal.aborted) put(main, head("Compare"), problem(error));
    return;
  }
  const charts = h("div", {class: "grid"});
  const [tables, below] = [h("div"), h("div")];
  const drawn = new Map();
  function draw() {
    const all = [...new Map(runs.flatMap((r) => figures(r)).map((f) => [f.key, f])).values()];
    for (const figure of all) {
      const own = runs.map((r) => figures(r).find((f) => f.key === figure.key));
      for (const [key, set] of SETS) {
        const lines = runs.map((r, i) => ({name: r.run, colour: tone(i), points: own[i] ? r.epochs.filter((e) => e[key] && Number.isFinite(own[i].value(e[key]))).map((e) => [e.epoch, own[i].value(e[key])]) : []})).filter((c) => c.points.length > 0);
        if (lines.length === 0) continue;
        const id = `${figure.key}/${key}`;
        if (drawn.has(id)) { drawn.get(id).update(lines); continue; }
        const chart = curves({title: `${figure.title}, ${set}`, series: lines, format: figure.format});
        drawn.set(id, chart);
        charts.append(chart);
      }
    }
    const at = runs.map((r) => r.epochs.find((e) => e.epoch === r.best_epoch));
    const rows = [["figure", ...names], ["state", ...runs.map((r) => r.state)], ["best epoch", ...runs.map((r) => r.best_epoch ?? "-")], ["time", ...runs.map((r) => duration(r.seconds))],
      ...SETS.flatMap(([key, set]) => all.map((f) => [`${f.title}, ${set}`, ...at.map((e, i) => { const own = figures(runs[i]).find((g) => g.key === f.key); return e?.[key] && own ? own.format(own.value(e[key])) : "-"; })]).filter((row) => row.slice(1).some((c) => c !== "-")))];
    const settings = [["setting", ...names], ...differences(runs).map(([name, ...values]) => [name, ...values.map(plain)])];
    const block = (title, table, none) => h("section", {class: "card"}, h("div", {class: "row"}, h("h2", {class: "grow"}, title), savers({rows: () => table, name: title})), table.length > 1 ? simple(table, title) : h("p", {class: "soft"}, none));
    put(tables, block("Settings that differ", settings, "None: they are the same."));
    put(below, block("Figures of the best epochs", rows, ""), runs.filter((r) => r.step > 1).map((r) => h("p", {class: "soft small"}, `${r.run}: ${leftOut(r)}`)));
  }
  put(main, h("p", {class: "small"}, h("a", {href: "#/runs"}, "Runs"), " / "), head(`${names.length} runs compared`, given.length > MOST && h("span", {class: "soft"}, `the first of ${given.length}`)),
    h("div", {class: "stack"}, h("div", {class: "row"}, names.map((name, i) => h("a", {class: "button", href: `#/run?${query({run: name})}`}, h("span", {class: "key", style: {background: tone(i)}}), name))), tables, charts, below));
  draw();
  const again = async () => {
    try { await look(); draw(); } catch (error) { if (!signal.aborted) console.warn(error.message); }
  };
  listen((news) => news.rows.some((row) => names.includes(row.run)) && again(), signal, {connected: again});
}
