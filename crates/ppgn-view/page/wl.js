// Weisfeiler-Leman on two graphs, side by side, round by round.

import {about, ask, query} from "./api.js";
import {Colouring} from "./colouring.js";
import {h, head, problem, put, s, say, waiting} from "./dom.js";
import {editor} from "./editor.js";
import {edgeRows, fill, graph, key, mark, ready} from "./graph.js";
import {numbers, savers} from "./save.js";
import {counted} from "./text.js";

const TESTS = ["1-wl", "2-wl", "2-fwl", "3-wl", "3-fwl"];
const CELL = 26;

export async function show(main, parameters, {signal, change}) {
  await ready();
  const PRESETS = (await about()).presets;
  const state = {
    a: parameters.get("a") ?? "", b: parameters.get("b") ?? "", test: parameters.get("test") ?? "1-wl",
    round: parameters.get("round"), labels: parameters.get("labels") ?? "", slice: Number(parameters.get("slice") ?? 0),
  };
  if (!state.a) { [state.a, state.b] = [PRESETS[0].a, PRESETS[0].b]; }
  let result = null;
  let round = 0;
  let pinned = null;
  let loading = null;

  const inputs = [field("a", "First graph"), field("b", "Second graph")];
  const test = h("select", {id: "test", "aria-label": "Test", on: {change: (e) => { state.test = e.target.value; state.round = null; load(); }}}, TESTS.map((t) => h("option", {value: t}, t.toUpperCase())));
  const labels = h("input", {type: "checkbox", id: "labels", checked: state.labels !== "0", on: {change: (e) => { state.labels = e.target.checked ? "" : "0"; state.round = null; load(); }}});
  const story = h("p", {class: "soft", id: "story"});
  const stage = h("div", {class: "stack", id: "stage"});
  const drawing = h("div");

  function field(side, label) {
    const input = h("input", {type: "text", id: `graph-${side}`, value: state[side], spellcheck: "false", autocomplete: "off",
      placeholder: "cfi:base=k4:0, MUTAG:7, g6:..., smiles:...", on: {keydown: (e) => e.key === "Enter" && take(), change: () => {}}});
    return h("label", {class: "field grow"}, label, input);
  }
  const input = (i) => inputs[i].querySelector("input");
  function take() {
    [state.a, state.b] = [input(0).value.trim(), input(1).value.trim()];
    state.round = null;
    load();
  }
  function choose(preset, name) {
    [state.a, state.b, state.test, state.round, state.labels] = [preset.a, preset.b, name ?? preset.tests[0], null, preset.labels ?? ""];
    load();
  }

  const remember = () => change({a: state.a, b: state.b, test: state.test === "1-wl" ? "" : state.test, round: round || "", labels: state.labels, slice: state.slice || ""});

  async function load() {
    loading?.abort();
    loading = new AbortController();
    const mine = loading;
    signal.addEventListener("abort", () => mine.abort());
    [input(0).value, input(1).value, test.value, labels.checked] = [state.a, state.b, state.test, state.labels !== "0"];
    const preset = PRESETS.find((p) => p.a === state.a && p.b === state.b);
    put(story, preset?.text ?? "");
    document.querySelectorAll("[data-preset]").forEach((e) => e.setAttribute("aria-pressed", String(e.dataset.preset === preset?.name)));
    stage.dataset.state = "loading";
    const slow = setTimeout(() => put(stage, waiting("Colouring ...")), 250);
    try {
      const answer = await ask("wl", {a: state.a, b: state.b, test: state.test, labels: state.labels}, mine.signal);
      if (mine.signal.aborted) return;
      result = new Colouring(answer);
      round = state.round === null || state.round === undefined ? (result.round ?? result.rounds) : Math.min(Math.max(0, Number(state.round) || 0), result.rounds);
      pinned = null;
      put(stage, frame());
      draw();
      stage.dataset.state = "ready";
    } catch (error) {
      if (!mine.signal.aborted) { put(stage, problem(error)); stage.dataset.state = "failed"; }
    } finally { clearTimeout(slow); }
  }

  // What stays while one steps through the rounds.
  let parts;
  function frame() {
    const slider = h("input", {type: "range", min: 0, max: Math.max(1, result.rounds), step: 1, id: "round", "aria-label": "Round", on: {input: (e) => go(Number(e.target.value))}});
    const button = (text, label, act, id) => h("button", {type: "button", id, "aria-label": label, title: label, on: {click: act}}, text);
    parts = {
      slider, now: h("strong", {id: "now"}), verdict: h("p", {class: "verdict", id: "verdict", role: "status"}),
      sides: [0, 1].map(() => ({picture: h("div"), matrix: h("div"), note: h("p", {class: "soft small"})})),
      histogram: h("div"), reason: h("div", {id: "reason"}), words: h("div"), slices: h("div"),
    };
    const same = result.round === null;
    put(parts.verdict, h("strong", {class: same ? "" : "good"}, same ? `${result.test.toUpperCase()} does not distinguish them` : `${result.test.toUpperCase()} distinguishes them at round ${result.round}`),
      h("span", {class: "soft"}, same ? `: stable after ${counted(result.rounds, "round")}, the histograms are equal.` : ""));
    return [
      h("div", {class: "card"}, parts.verdict, h("div", {class: "row"},
        button("|◀", "First round", () => go(0), "first"), button("◀", "Round before (left arrow)", () => go(round - 1), "back"), slider,
        button("▶", "Next round (right arrow)", () => go(round + 1), "next"), button("▶|", "Last round", () => go(result.rounds), "last"),
        result.round !== null && button(`Round ${result.round}`, "The round that distinguishes them", () => go(result.round), "part"), parts.now, h("span", {class: "grow"}), parts.slices)),
      h("div", {class: "two"}, result.graphs.map((g, i) => h("section", {class: "card", "aria-label": g.name, "data-side": i},
        h("div", {class: "row"}, h("h2", {class: "grow"}, h("span", {class: "code"}, g.name)), h("span", {class: "soft small"}, `${counted(g.drawing.n, "node")}, ${counted(g.drawing.m, "edge")}`)),
        h("div", {class: result.k > 1 ? "pictures" : ""}, parts.sides[i].picture, parts.sides[i].matrix), parts.sides[i].note))),
      parts.reason, parts.histogram, certificate(),
    ];
  }

  function go(next) {
    round = Math.min(Math.max(0, next), result.rounds);
    draw();
    say(`Round ${round}: ${counted(result.counts[round], "colour")}`);
  }

  function certificate() {
    const c = result.certificate;
    if (!c) return h("section", {class: "card"}, h("h2", {}, "Certificate"), h("p", {class: "soft"}, "There is none: a stable colouring with equal histograms in both graphs is what \"not distinguished\" means."));
    return h("section", {class: "card"}, h("div", {class: "row"}, h("h2", {class: "grow"}, "Certificate"),
      h("button", {type: "button", id: "mark", on: {click: () => { go(result.round); pinned = null; highlight(); }}}, "Mark it in the graphs"),
      savers({rows: () => [["certificate"], ...c.text.split("\n").map((line) => [line])], name: "certificate"})),
    h("pre", {id: "certificate"}, c.text));
  }

  /** Marks the example tuples of the certificate. */
  function highlight() {
    result.certificate.examples.forEach((nodes, i) => {
      const svg = parts.sides[i].svg;
      if (svg && nodes) mark(svg, nodes, nodes.length > 1 ? nodes.slice(1).map((v) => [nodes[0], v]) : []);
    });
  }

  function draw() {
    const {k} = result;
    remember();
    parts.slider.value = round;
    put(parts.now, `Round ${round} of ${result.rounds}: ${counted(result.counts[round], "colour")}`);
    document.getElementById("back").disabled = round === 0;
    document.getElementById("next").disabled = round === result.rounds;
    const n = Math.max(...result.nodes);
    state.slice = Math.min(state.slice, n - 1);
    put(parts.slices, k === 3 && h("label", {class: "row"}, "slice: first node ", h("input", {type: "range", min: 0, max: n - 1, value: state.slice, id: "slice", "aria-label": "First node of the tuples that are shown", on: {input: (e) => { state.slice = Number(e.target.value); draw(); }}}), h("strong", {}, state.slice)));
    [0, 1].forEach((i) => side(i));
    histogram();
    put(parts.reason);
    if (result.round !== null && round === result.round) highlight();
    stage.dataset.round = round;
  }

  function side(i) {
    const {k} = result;
    const g = result.graphs[i];
    const part = parts.sides[i];
    const colours = result.at(i, round);
    const size = g.drawing.n;
    part.svg = graph(g.drawing, {colours: k === 1 ? colours : k === 2 ? Array.from({length: size}, (_, u) => colours[u * size + u]) : null, legend: g.legend,
      texts: g.legend.molecules ? (u) => g.legend.nodes.texts[g.drawing.labels[u]] : (u) => String(u), label: `${g.name} after round ${round}`,
      hover: k === 1 ? (u) => explain(i, u) : null, click: k === 1 ? (u) => { pinned = [i, u]; explain(i, u, true); } : null});
    put(part.picture, h("figure", {}, h("figcaption", {}, h("span", {class: "soft small"}, k === 1 ? "nodes by colour" : k === 2 ? "nodes (u, u) by colour" : ""), savers({drawing: () => part.svg, rows: () => tuples(i), name: `${g.name}-${result.test}-round-${round}`})), part.svg));
    if (k > 1) put(part.matrix, matrix(i, colours));
    put(part.note, key(g.legend));
  }

  const tuples = (i) => [[...Array.from({length: result.k}, (_, p) => (result.k === 1 ? "node" : `i${p + 1}`)), "colour"], ...result.at(i, round).map((c, t) => [...result.tuple(i, t), c])];

  /** The pairs (or a slice of the triples) of a graph as a matrix, each in the fill of its colour. */
  function matrix(i, colours) {
    const {k} = result;
    const n = result.nodes[i];
    const first = k === 3 ? Math.min(state.slice, n - 1) : 0;
    const base = k === 3 ? first * n * n : 0;
    const canvas = h("canvas", {class: "matrix", width: n, height: n, tabindex: 0, role: "img",
      "aria-label": `Colours of the ${k === 3 ? `triples (${first}, i, j)` : "pairs (i, j)"}: rows i, columns j. Arrow keys choose one.`});
    const context = canvas.getContext("2d");
    for (let t = 0; t < n * n; t += 1) {
      context.fillStyle = fill(colours[base + t]);
      context.fillRect(t % n, Math.floor(t / n), 1, 1);
    }
    let at = [0, 0];
    const look = (u, v, keep) => { at = [u, v]; explain(i, base + u * n + v, keep); };
    const where = (event) => {
      const box = canvas.getBoundingClientRect();
      const [x, y] = [Math.floor(((event.clientX - box.left) / box.width) * n), Math.floor(((event.clientY - box.top) / box.height) * n)];
      return [Math.min(n - 1, Math.max(0, y)), Math.min(n - 1, Math.max(0, x))];
    };
    canvas.addEventListener("pointermove", (event) => look(...where(event)));
    canvas.addEventListener("pointerleave", () => explain(i, null));
    canvas.addEventListener("click", (event) => { pinned = [i, 0]; look(...where(event), true); });
    canvas.addEventListener("keydown", (event) => {
      const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      look(Math.min(n - 1, Math.max(0, at[0] + step[0])), Math.min(n - 1, Math.max(0, at[1] + step[1])), true);
    });
    const rows = () => tuples(i);
    return h("figure", {}, h("figcaption", {}, h("span", {class: "soft small"}, k === 3 ? `triples (${first}, i, j)` : "pairs (i, j): rows i, columns j"), savers({drawing: () => large(canvas, n), rows, name: `${result.graphs[i].name}-matrix-round-${round}`})), canvas, numbers(rows, "Colours of tuples"));
  }

  /** A matrix with cells of several points, to save. */
  function large(canvas, n) {
    const step = Math.max(1, Math.min(CELL, Math.floor(2000 / n)));
    const copy = h("canvas", {width: n * step, height: n * step});
    const context = copy.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(canvas, 0, 0, n * step, n * step);
    return copy;
  }

  const swatch = (c) => h("span", {class: "key square", style: {background: fill(c)}, title: `colour ${c}`});

  /** Shows a tuple in its graph, and the multiset that made its colour. */
  function explain(i, index, keep = false) {
    if (pinned && !keep && index !== null) return;
    if (index === null) { if (!pinned) { put(parts.reason); mark(parts.sides[i].svg); } return; }
    const nodes = result.tuple(i, index);
    mark(parts.sides[i].svg, nodes, nodes.length > 1 ? nodes.slice(1).map((v, p) => [nodes[p], v]) : []);
    const colour = result.at(i, round)[index];
    const why = result.reasons(i, index, round);
    const name = result.k === 1 ? `Node ${nodes[0]}` : `${result.k === 2 ? "Pair" : "Triple"} (${nodes.join(", ")})`;
    put(parts.reason, h("section", {class: "card", "data-tuple": nodes.join(",")}, h("div", {class: "row"}, h("h2", {class: "grow"}, `${name} of ${result.graphs[i].name}`), pinned && h("button", {type: "button", class: "small", on: {click: () => { pinned = null; put(parts.reason); mark(parts.sides[i].svg); }}}, "Close")),
      h("p", {class: "row"}, `after round ${round}: `, swatch(colour), `colour ${colour}`),
      why ? [h("p", {class: "row"}, "because in the round before it was ", swatch(why.own), `colour ${why.own}, and its neighbours were`),
        h("ul", {}, why.neighbours.slice(0, 24).map(({colours, position, count}) => h("li", {}, h("span", {class: "row"}, `${count} × (`, colours.map((c, p) => [p ? ", " : "", swatch(c), String(c)]), `)${position ? ` ${position}` : ""}`)))),
        why.neighbours.length > 24 ? h("p", {class: "soft small"}, `and ${why.neighbours.length - 24} more kinds`) : ""]
        : h("p", {class: "soft"}, "Round 0: its isomorphism type, that is which of its nodes are equal, adjacent, and what labels they have.")));
  }

  function histogram() {
    const rows = result.histogram(round);
    const high = Math.max(...rows.map((r) => Math.max(r[1], r[2])));
    const shown = [...rows].sort((x, y) => Math.abs(y[1] - y[2]) - Math.abs(x[1] - x[2]) || y[1] - x[1]).slice(0, 40).sort((x, y) => x[0] - y[0]);
    const [line, half] = [22, 240];
    const svg = s("svg", {class: "chart", viewBox: `0 0 560 ${shown.length * line + 26}`, role: "img", "aria-label": "Histograms of both graphs; the table follows"},
      s("text", {x: 280 - half / 2, y: 14, "text-anchor": "middle"}, result.graphs[0].name), s("text", {x: 280 + half / 2, y: 14, "text-anchor": "middle"}, result.graphs[1].name));
    shown.forEach(([c, a, b], i) => {
      const y = 22 + i * line;
      const w = (x) => Math.max(x ? 1.5 : 0, (x / high) * (half - 60));
      svg.append(s("rect", {x: 262 - w(a), y, width: w(a), height: line - 5, fill: fill(c)}), s("rect", {x: 298, y, width: w(b), height: line - 5, fill: fill(c)}),
        s("text", {x: 280, y: y + 12, "text-anchor": "middle"}, c), s("text", {x: 256 - w(a), y: y + 12, "text-anchor": "end"}, a), s("text", {x: 304 + w(b), y: y + 12}, b));
      if (a !== b) svg.append(s("rect", {x: 264, y: y - 1, width: 32, height: line - 3, rx: 4, fill: "none", class: "bestline"}));
    });
    const table = () => [["colour", result.graphs[0].name, result.graphs[1].name, "differs"], ...rows.map((r) => [...r, r[1] === r[2] ? "" : "yes"])];
    const differ = rows.filter((r) => r[1] !== r[2]).length;
    put(parts.histogram, h("figure", {class: "card"}, h("figcaption", {}, `Histograms after round ${round}`, h("span", {class: "soft small"}, differ ? `${counted(differ, "colour")} differ${differ === 1 ? "s" : ""}` : "equal"), savers({drawing: () => svg, rows: table, name: `histogram-${result.test}-round-${round}`})), svg,
      rows.length > shown.length ? h("p", {class: "soft small"}, `${shown.length} of ${rows.length} colours: those that differ most.`) : "", numbers(table, "Histograms")));
  }

  const drawn = (side) => (line) => { state[side] = `g6:${line}`; state.round = null; load(); };
  const draws = h("details", {on: {toggle: (e) => e.target.open && !drawing.firstChild && put(drawing, h("div", {class: "two"}, [["a", "First graph"], ["b", "Second graph"]].map(([side, title]) => editor(title, drawn(side)))))}}, h("summary", {}, "Draw graphs with the mouse"), drawing);
  const copy = h("button", {type: "button", on: {click: async () => { try { await navigator.clipboard.writeText(location.href); say("The link is copied"); copy.textContent = "Copied"; } catch { copy.textContent = "The address bar has it"; } }}}, "Copy link");
  put(main, head("Weisfeiler-Leman", h("span", {class: "soft"}, "two graphs, round by round"), h("span", {class: "grow"}), copy),
    h("div", {class: "stack"},
      h("div", {class: "card stack"},
        h("div", {class: "tabs", role: "group", "aria-label": "Examples"}, PRESETS.map((p) => h("button", {type: "button", "data-preset": p.name, "aria-pressed": "false", on: {click: () => choose(p)}}, p.name))),
        story,
        h("div", {class: "row"}, inputs, h("label", {class: "field"}, "Test", test), h("label", {class: "field"}, "Labels", h("span", {}, labels, " count")), h("button", {type: "button", class: "main", id: "compare", on: {click: take}}, "Compare")), draws),
      stage));
  const keys = (event) => {
    if (!result || event.target.closest?.("input, select, textarea, svg.chart, canvas") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowRight") go(round + 1);
    else if (event.key === "ArrowLeft") go(round - 1);
    else return;
    event.preventDefault();
  };
  addEventListener("keydown", keys, {signal});
  await load();
}

/** The address of this view for two graphs. */
export const link = (a, b, test) => `#/wl?${query({a, b, test})}`;
