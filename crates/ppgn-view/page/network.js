// What the last block's pooling picked in a graph: the pairs that attain the maxima, by what they add to an output.

import {ask, askRuns, query} from "./api.js";
import {h, head, problem, put, s, waiting} from "./dom.js";
import {graph, key, mark, ready} from "./graph.js";
import {numbers, savers} from "./save.js";
import {percent, short} from "./text.js";

const LINES = 40;

export async function show(main, parameters, {signal, change}) {
  await ready();
  const run = parameters.get("run") ?? "";
  if (!run) {
    put(main, head("Network"), waiting());
    const usable = [];
    await askRuns((part, first) => {
      if (first) usable.length = 0;
      usable.push(...part.rows.filter((r) => !r.error && r.fields.best_epoch));
    }, signal);
    put(main, head("Network"), h("div", {class: "card"}, h("p", {}, "For one graph of a run: which pairs of nodes won the maxima of the last block's pooling, by the weight of their contribution. Choose a run:"),
      usable.length === 0 ? h("p", {class: "soft"}, "There is no run with a network yet.") : h("div", {class: "tabs"}, usable.slice(0, 60).map((r) => h("a", {class: "button", href: `#/network?${query({run: r.run})}`}, r.run)))));
    return;
  }
  let [index, output] = [Number(parameters.get("graph") ?? 0), parameters.get("output") ?? ""];
  const body = h("div", {class: "stack"});
  const top = h("div", {class: "row"});
  put(main, h("p", {class: "small"}, h("a", {href: "#/runs"}, "Runs"), " / ", h("a", {href: `#/run?${query({run})}`}, run), " / "), head("Network", h("span", {class: "soft"}, "what the last block's pooling picked")), body);
  async function load() {
    put(body, top, waiting("Computing the network ..."));
    try {
      const answer = await ask("network", {run, graph: index, output}, signal);
      change({run, graph: index, output});
      draw(answer);
    } catch (error) { if (!signal.aborted) put(body, top, problem(error)); }
  }
  function draw(a) {
    const names = a.goal.names.map((n) => (typeof n === "string" ? n : n.name));
    const label = (i) => (a.goal.kind === "classes" ? `class ${names[i]}` : names[i]);
    const number = h("input", {type: "number", min: 0, max: a.graphs - 1, value: index, id: "graph", "aria-label": "Graph", on: {change: (e) => { index = Math.min(a.graphs - 1, Math.max(0, Number(e.target.value) || 0)); load(); }}});
    const step = (by) => h("button", {type: "button", disabled: index + by < 0 || index + by >= a.graphs, "aria-label": by < 0 ? "Graph before" : "Next graph", on: {click: () => { index += by; load(); }}}, by < 0 ? "◀" : "▶");
    put(top, step(-1), h("label", {class: "row"}, "Graph", number, `of ${a.graphs}`), step(1), h("label", {class: "row"}, "Output", h("select", {id: "output", on: {change: (e) => { output = e.target.value; load(); }}}, Array.from({length: a.outputs}, (_, i) => h("option", {value: i, selected: i === a.output}, label(i))))));
    const svg = graph(a.drawing, {legend: a.legend, label: `Graph ${index} with the pairs that won`, texts: a.legend.molecules ? null : (u) => String(u)});
    const strongest = Math.max(1e-12, ...a.pairs.map((p) => Math.abs(p.contribution)));
    if (svg.at) {
      const layer = s("g", {});
      for (const p of a.pairs.slice(0, LINES).reverse()) {
        const share = Math.abs(p.contribution) / strongest;
        const colour = p.contribution >= 0 ? "var(--c0)" : "var(--c1)";
        const title = s("title", {}, `(${p.i}, ${p.j}): ${short(p.contribution)}`);
        const [[x1, y1], [x2, y2]] = [svg.at[p.i], svg.at[p.j]];
        layer.append(p.i === p.j ? s("circle", {class: "pair", cx: x1, cy: y1, r: svg.radius + 2 + 7 * share, fill: "none", style: {stroke: colour}, "stroke-width": 1.5 + 4 * share, opacity: 0.35 + 0.65 * share}, title)
          : s("path", {class: "pair", d: `M${x1} ${y1}Q${(x1 + x2) / 2 + (y2 - y1) * 0.12} ${(y1 + y2) / 2 - (x2 - x1) * 0.12} ${x2} ${y2}`, fill: "none", style: {stroke: colour}, "stroke-width": 0.8 + 6 * share, opacity: 0.25 + 0.7 * share}, title));
      }
      svg.insertBefore(layer, svg.lastChild);
    }
    const rows = () => [["pair", "contribution", "maxima won"], ...a.pairs.map((p) => [p.i === p.j ? `node ${p.i}` : `(${p.i}, ${p.j})`, p.contribution, p.channels])];
    const fact = (b, text) => h("div", {class: "fact"}, h("b", {}, b), h("span", {}, text));
    const prediction = a.prediction.probabilities ? `class ${names[a.prediction.probabilities.indexOf(Math.max(...a.prediction.probabilities))]}, ${percent(Math.max(...a.prediction.probabilities))}` : a.prediction.values.map(short).join(", ");
    const table = h("table", {}, h("thead", {}, h("tr", {}, ["Pair", "Contribution", "Maxima won"].map((t, i) => h("th", {scope: "col", class: i > 0 && "n"}, t)))), h("tbody", {}, a.pairs.slice(0, 25).map((p) => h("tr", {tabindex: 0, on: {pointerenter: () => mark(svg, [p.i], [[p.i, p.j]]), pointerleave: () => mark(svg), focus: () => mark(svg, [p.i], [[p.i, p.j]]), blur: () => mark(svg)}},
      h("td", {}, p.i === p.j ? `node ${p.i}` : `(${p.i}, ${p.j})`), h("td", {class: "n"}, short(p.contribution)), h("td", {class: "n"}, short(p.channels))))));
    put(body, top, h("div", {class: "cards"}, fact(prediction, "predicted"), a.goal.kind === "classes" && fact(names[a.class] ?? "-", "class"), fact(short(a.score), `output for ${label(a.output)}`), fact(short(a.of_last_block), a.linear ? "of it through the last block's pooling" : "gradient times pooled features"), fact(a.pairs_in_all, `pairs won at least one of ${2 * a.channels} maxima`)),
      h("div", {class: "two"}, h("figure", {class: "card"}, h("figcaption", {}, `Graph ${index}`, savers({drawing: () => svg, rows, name: `network-${index}`})), svg, key(a.legend), h("p", {class: "soft small"}, h("span", {class: "key", style: {background: "var(--c0)"}}), " adds to the output, ", h("span", {class: "key", style: {background: "var(--c1)"}}), " lowers it; a ring is the pair (u, u). Arrows of pairs bend to the side of their order.")),
        h("section", {class: "card"}, h("h2", {}, "Pairs by contribution"), h("div", {class: "scroll"}, table), numbers(rows, "All pairs that won"))));
  }
  await load();
}
