// A dataset: graphs drawn with their labels, filters, and what `ppgn data info` counts as charts.

import {ask, askRuns, query} from "./api.js";
import {bars} from "./chart.js";
import {h, head, problem, put, say, seen, waiting} from "./dom.js";
import {edgeRows, fill, graph, key, ready} from "./graph.js";
import {numbers, savers} from "./save.js";
import {bytes, counted, short} from "./text.js";

const PAGE = 12;

export async function show(main, parameters, context) {
  const name = parameters.get("data");
  return name ? one(main, name, parameters, context) : choose(main, context);
}

/** What there is to look at. */
async function choose(main, {signal}) {
  put(main, head("Datasets"), waiting());
  const list = await ask("data", {}, signal);
  const input = h("input", {type: "text", placeholder: "MUTAG, csl, gnp:n=20,p=0.2,count=50, brec/basic.g6", "aria-label": "Dataset", on: {keydown: (e) => e.key === "Enter" && go()}});
  const go = () => { if (input.value.trim()) location.hash = `#/data?${query({data: input.value.trim()})}`; };
  const [used, found] = [h("span", {class: "soft"}), new Set()];
  askRuns((part) => {
    part.rows.forEach((r) => r.data && found.add(r.data));
    if (found.size > 0) put(used, "of the runs: ", [...found].slice(0, 30).map((d) => [h("a", {href: `#/data?${query({data: d})}`}, d), " "]));
  }, signal).catch((error) => { if (!signal.aborted) put(used, error.message); });
  put(main, head("Datasets"), h("div", {class: "stack"},
    h("div", {class: "card row"}, input, h("button", {type: "button", class: "main", on: {click: go}}, "Show"), used),
    h("section", {class: "card"}, h("h2", {}, "In the data folder"), list.found.length === 0 ? h("p", {class: "soft"}, "Nothing yet: ", h("code", {}, "ppgn data get MUTAG"), " downloads one.")
      : h("div", {class: "tabs"}, list.found.map((d) => h("a", {class: "button", href: `#/data?${query({data: d.name})}`, title: bytes(d.bytes)}, d.name)))),
    h("section", {class: "card"}, h("h2", {}, "Generators"), h("div", {class: "scroll"}, h("table", {}, h("thead", {}, h("tr", {}, ["name", "what it is", "parameters"].map((t) => h("th", {scope: "col"}, t)))),
      h("tbody", {}, list.generators.map((g) => h("tr", {}, h("td", {}, h("a", {href: `#/data?${query({data: g.name})}`}, g.name)), h("td", {}, g.about), h("td", {class: "code small"}, g.parameters.map((p) => `${p.name}=${p.default}`).join(" "))))))))));
}

async function one(main, name, parameters, {signal, change}) {
  put(main, head(name), waiting("Reading the dataset ..."));
  let data;
  try { [data] = await Promise.all([ask("dataset", {data: name}, signal), ready()]); } catch (error) {
    if (!signal.aborted) put(main, head(name), problem(error), h("p", {}, h("a", {href: "#/data"}, "All datasets")));
    return;
  }
  const {nodes, edges, class: classes, has} = data.rows;
  Object.assign(data, {nodes, edges, class: classes, has});
  /** Of a large dataset, what graphs are filtered by comes in parts. */
  async function rest() {
    while (data.nodes.length < data.summary.graphs && !signal.aborted) {
      const part = await ask("dataset/rows", {data: name, from: data.nodes.length}, signal);
      if (part.nodes.length === 0) return;
      for (const column of ["nodes", "edges", "class", "has"]) data[column] = data[column] && data[column].concat(part[column]);
      draw();
    }
  }
  const state = {class: parameters.get("class") ?? "", label: parameters.get("label") ?? "", least: parameters.get("least") ?? "", most: parameters.get("most") ?? "", from: Number(parameters.get("from") ?? 0)};
  let chosen = null;
  const grid = h("div", {class: "grid three", id: "graphs"});
  const pages = h("div", {class: "row"});
  const pair = h("div", {class: "row"});
  const matching = () => {
    const all = [];
    const [least, most] = [state.least === "" ? 0 : Number(state.least), state.most === "" ? Infinity : Number(state.most)];
    for (let i = 0; i < data.nodes.length; i += 1) {
      if (data.nodes[i] < least || data.nodes[i] > most) continue;
      if (state.class !== "" && String(data.class?.[i]) !== state.class) continue;
      if (state.label !== "" && !data.has?.[i].includes(Number(state.label))) continue;
      all.push(i);
    }
    return all;
  };
  const spec = (i) => `${name}:${i}`;
  const className = (c) => (c === null || c === undefined ? "unknown" : data.classes[c]);
  /** One click chooses a graph, another on a second one leads to the Weisfeiler-Leman view of both. */
  const chooser = (i) => (chosen === null ? h("button", {type: "button", class: "small", title: "Choose it, then another, to see both in the Weisfeiler-Leman view", on: {click: () => { chosen = i; draw(); }}}, "Compare")
    : chosen === i ? h("button", {type: "button", class: "small", "aria-pressed": "true", on: {click: () => { chosen = null; draw(); }}}, "Chosen")
      : h("a", {class: "button", href: `#/wl?${query({a: spec(chosen), b: spec(i)})}`}, `Compare with graph ${chosen}`));
  const card = (i) => {
    const place = h("div", {}, waiting(""));
    const details = h("div");
    const draw = (g) => {
      const svg = graph(g.drawing, {legend: data.legend, label: `Graph ${i} of ${data.name}`});
      const rows = () => edgeRows(g.drawing, data.legend);
      put(place, svg);
      const values = (g.targets ?? []).map((v, t) => (Number.isFinite(v) ? `${data.targets[t].name} ${short(v)}` : null)).filter(Boolean);
      put(details, g.id && h("p", {class: "small"}, g.id), values.length > 0 && h("p", {class: "soft small"}, values.slice(0, 4).join(", ")),
        svg.at && h("div", {class: "row"}, savers({drawing: () => svg, rows, name: `${data.name}-${i}`})), g.drawing.edges && numbers(rows, `Edges of graph ${i}`));
    };
    if (data.first[i]) draw(data.first[i]);
    else ask("dataset/graph", {data: name, graph: i}, signal).then(draw).catch((error) => signal.aborted || put(place, problem(error)));
    return h("article", {class: "card", "data-graph": i}, h("div", {class: "row"}, h("h3", {class: "grow"}, `Graph ${i}`),
      data.classes && h("span", {class: "soft small"}, `class ${className(data.class[i])}`),
      h("span", {class: "choose"}, chooser(i))),
    h("p", {class: "soft small"}, `${counted(data.nodes[i], "node")}, ${counted(data.edges[i], "edge")}`), place, details);
  };
  const cards = new Map();
  function draw() {
    const all = matching();
    state.from = Math.min(state.from, Math.max(0, all.length - 1));
    state.from -= state.from % PAGE;
    const shown = all.slice(state.from, state.from + PAGE);
    const kept = new Map(shown.map((i) => [i, cards.get(i) ?? card(i)]));
    cards.clear();
    kept.forEach((element, i) => { cards.set(i, element); put(element.querySelector(".choose"), chooser(i)); });
    put(grid, shown.length ? [...kept.values()] : h("p", {class: "soft"}, "No graph meets these conditions."));
    const turn = (by) => { state.from += by; draw(); };
    put(pages, h("button", {type: "button", disabled: state.from === 0, on: {click: () => turn(-PAGE)}}, "Before"), h("span", {id: "shown"}, all.length ? `${state.from + 1} to ${Math.min(all.length, state.from + PAGE)} of ${counted(all.length, "graph")}` : "none", data.nodes.length < sum.graphs && ` among the first ${data.nodes.length}; looking on ...`),
      h("button", {type: "button", disabled: state.from + PAGE >= all.length, on: {click: () => turn(PAGE)}}, "Next"));
    put(pair, chosen === null ? h("span", {class: "soft small"}, "Compare: choose one graph, then another, to see both in the Weisfeiler-Leman view.") : h("span", {}, `Graph ${chosen} is chosen; choose another, on any page.`));
    change({data: name, ...state, from: state.from || ""});
  }
  const set = (field) => (e) => { state[field] = e.target.value; state.from = 0; draw(); say(counted(matching().length, "graph")); };
  const filters = h("div", {class: "row"},
    data.classes && h("label", {class: "field"}, "Class", h("select", {id: "class", on: {change: set("class")}}, h("option", {value: ""}, "any"), data.classes.map((c, i) => h("option", {value: i, selected: String(i) === state.class}, `${c} (${data.summary.class_counts[i]})`)))),
    data.legend.nodes && h("label", {class: "field"}, `Has ${data.legend.nodes.name}`, h("select", {id: "label", on: {change: set("label")}}, h("option", {value: ""}, "any"), data.legend.nodes.texts.map((t, i) => h("option", {value: i, selected: String(i) === state.label}, t)))),
    h("label", {class: "field"}, "Nodes from", h("input", {type: "number", min: 0, value: state.least, on: {input: set("least")}})),
    h("label", {class: "field"}, "to", h("input", {type: "number", min: 0, value: state.most, on: {input: set("most")}})), h("span", {class: "grow"}), pair);
  const sum = data.summary;
  const fact = (b, text) => h("div", {class: "fact"}, h("b", {}, b), h("span", {}, text));
  const sizes = () => {
    const [low, high] = [sum.nodes.min, sum.nodes.max];
    const width = Math.max(1, Math.ceil((high - low + 1) / 28));
    const bins = new Map();
    sum.sizes.forEach(([n, count]) => { const b = low + Math.floor((n - low) / width) * width; bins.set(b, (bins.get(b) ?? 0) + count); });
    const items = [];
    for (let b = low; b <= high; b += width) items.push({name: width === 1 ? String(b) : `${b}-${b + width - 1}`, value: bins.get(b) ?? 0, range: [b, b + width - 1]});
    return items;
  };
  const sizeItems = sizes();
  const charts = h("div", {class: "grid"},
    bars({title: "Graphs by number of nodes", items: sizeItems, xTitle: "nodes", yTitle: "graphs", pick: (i) => { [state.least, state.most] = sizeItems[i].range.map(String); state.from = 0; draw(); }}),
    data.classes && bars({title: "Graphs by class", items: data.classes.map((c, i) => ({name: c, value: sum.class_counts[i], colour: fill(i)})), xTitle: "class", yTitle: "graphs", pick: (i) => { state.class = String(i); filters.querySelector("#class").value = i; draw(); }}),
    data.legend.nodes && bars({title: `Nodes by ${data.legend.nodes.name}`, items: sum.node_labels[0].map(([, count], i) => ({name: data.legend.nodes.texts[i], value: count, colour: fill(i)})), xTitle: data.legend.nodes.name, yTitle: "nodes"}),
    data.legend.edges && bars({title: `Edges by ${data.legend.edges.name}`, items: sum.edge_labels[0].map(([raw, count]) => ({name: String(raw), value: count})), xTitle: data.legend.edges.name, yTitle: "edges"}));
  const targets = data.targets.length > 0 && h("section", {class: "card"}, h("h2", {}, "Targets"), h("div", {class: "scroll"}, h("table", {}, h("thead", {}, h("tr", {}, ["target", "unit", "known", "least", "mean", "most", "deviation"].map((t, i) => h("th", {scope: "col", class: i > 1 && "n"}, t)))),
    h("tbody", {}, data.targets.map((t, i) => { const r = sum.targets[i]; return h("tr", {}, h("td", {}, t.name), h("td", {}, t.unit), [r.count, r.min, r.mean, r.max, r.deviation].map((x) => h("td", {class: "n"}, short(x)))); })))));
  const rows = () => [["graph", "nodes", "edges", ...(data.classes ? ["class"] : [])], ...matching().map((i) => [i, data.nodes[i], data.edges[i], ...(data.classes ? [className(data.class[i])] : [])])];
  put(main, h("p", {class: "small"}, h("a", {href: "#/data"}, "Datasets"), " / "), head(data.name, h("span", {class: "soft"}, `${data.task}, ${data.source}${data.directed ? ", directed" : ""}${data.folds ? `, ${data.folds} folds` : ""}`), h("span", {class: "grow"}), savers({rows, name: data.name})),
    h("div", {class: "stack"},
      h("div", {class: "cards"}, fact(sum.graphs, "graphs"), fact(short(sum.nodes.mean), `nodes per graph, ${sum.nodes.min} to ${sum.nodes.max}`), fact(short(sum.edges.mean), `edges per graph, ${sum.edges.min} to ${sum.edges.max}`), fact(short(sum.degrees.mean), `neighbours per node, up to ${sum.degrees.max}`), data.classes && fact(data.classes.length, "classes")),
      h("div", {class: "card stack"}, filters, key(data.legend), pages), grid, charts, targets || "",
      data.notes.length > 0 && h("section", {class: "card"}, h("h2", {}, "Notes of the reader"), data.notes.map((n) => h("p", {}, n)))));
  draw();
  seen("graphs");
  rest().catch((error) => signal.aborted || put(pages, problem(error)));
}
