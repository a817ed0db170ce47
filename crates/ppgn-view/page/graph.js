// Graphs as drawings: nodes in the fill of their label or colour, edges, bonds as one, two or three lines.

import {about} from "./api.js";
import {h, s} from "./dom.js";

let fills = [];
let dark = [];
const SIDE = 400;

/** Must have been awaited once before anything is drawn. */
export async function ready() {
  const known = await about();
  [fills, dark] = [known.fills, known.dark];
}

/** The fill of a colour number; beyond the plain ones they repeat with a pattern on top. */
export const fill = (colour) => fills[colour % fills.length];
const pattern = (colour) => Math.floor(colour / fills.length) % 4;
const onDark = (colour) => dark[colour % dark.length];

let patterns = 0;
/** Definitions of the patterns, with names of their own for this drawing. */
function defs() {
  const id = `p${patterns += 1}`;
  const one = (k, shape) => s("pattern", {id: `${id}-${k}`, width: 8, height: 8, patternUnits: "userSpaceOnUse"}, shape);
  return [id, s("defs", {},
    one(1, s("path", {d: "M-1 5L5 -1M3 9L9 3", stroke: "#000", "stroke-width": 1.2})),
    one(2, s("path", {d: "M-1 3L5 9M3 -1L9 5", stroke: "#fff", "stroke-width": 1.4})),
    one(3, s("circle", {cx: 4, cy: 4, r: 1.5, fill: "#000"})))];
}

const radius = (n) => Math.max(3, Math.min(15, 92 / Math.sqrt(n)));

/**
 * A drawing of a graph: {n, edges, places, labels, bonds}. `colours` overrides labels; `texts(u)` is what stands in a node;
 * `marked` and `pairs` are nodes and pairs to stress; `hover(u | null)` is called with the node below the pointer.
 */
export function graph(drawing, {colours = null, legend = null, texts = null, label = "A graph", hover = null, click = null, widths = null} = {}) {
  const {n, edges, places} = drawing;
  if (!places) return h("p", {class: "soft"}, `${n} nodes and ${drawing.m} edges: too large to be drawn.`);
  const r = radius(n);
  const room = SIDE - 4 * r;
  const at = places.map(([x, y]) => [2 * r + x * room, 2 * r + y * room]);
  const [id, patterns] = defs();
  const svg = s("svg", {class: "graph", viewBox: `0 0 ${SIDE} ${SIDE}`, role: "img", "aria-label": label}, patterns);
  const lines = s("g", {});
  const thin = Math.max(0.5, Math.min(2.2, 60 / Math.sqrt(edges.length + 1) / 3));
  // Lines that are all alike are one path: a page of dense graphs has tens of thousands.
  const alike = !drawing.bonds && !drawing.directed && !widths;
  let path = "";
  edges.forEach(([u, v], i) => {
    const [[x1, y1], [x2, y2]] = [at[u], at[v]];
    if (u === v) { lines.append(s("circle", {class: "edge", cx: x1, cy: y1 - r, r: r * 0.9})); return; }
    if (alike) { path += `M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}`; return; }
    const bond = drawing.bonds?.[i];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [ox, oy] = [(-(y2 - y1) / length) * 2.4, ((x2 - x1) / length) * 2.4];
    const line = (k, dash) => s("line", {class: "edge", x1: (x1 + k * ox).toFixed(1), y1: (y1 + k * oy).toFixed(1), x2: (x2 + k * ox).toFixed(1), y2: (y2 + k * oy).toFixed(1), "stroke-width": bond ? 1.6 : widths?.[i] ?? thin, "stroke-dasharray": dash});
    if (bond === 2) lines.append(line(-1), line(1));
    else if (bond === 3) lines.append(line(-1.6), line(0), line(1.6));
    else if (bond === 4) lines.append(line(-1), line(1, "3 3"));
    else lines.append(line(0));
    if (drawing.directed) {
      const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
      const [tx, ty] = [x2 - ux * (r + 1), y2 - uy * (r + 1)];
      lines.append(s("path", {class: "edge", d: `M${tx - 6 * ux + 3 * uy} ${ty - 6 * uy - 3 * ux}L${tx} ${ty}L${tx - 6 * ux - 3 * uy} ${ty - 6 * uy + 3 * ux}`, "stroke-width": thin}));
    }
  });
  if (path) lines.append(s("path", {class: "edge", d: path, "stroke-width": thin}));
  svg.append(lines);
  const circles = s("g", {});
  const words = texts ?? (legend?.molecules && drawing.labels && !colours ? (u) => (legend.nodes.texts[drawing.labels[u]] ?? "") : null);
  const shown = colours ?? drawing.labels ?? null;
  for (let u = 0; u < n; u += 1) {
    const [x, y] = at[u];
    const colour = shown?.[u];
    const has = colour !== null && colour !== undefined;
    const group = s("g", {"data-node": u, on: {
      pointerenter: hover && (() => hover(u)), pointerleave: hover && (() => hover(null)), click: click && (() => click(u))}},
    s("circle", {class: has ? "node" : "node plain", cx: x.toFixed(1), cy: y.toFixed(1), r, fill: has && fill(colour)},
      s("title", {}, `node ${u}${drawing.labels && legend?.nodes ? `, ${legend.nodes.name} ${legend.nodes.texts[drawing.labels[u]]}` : ""}${colours ? `, colour ${colours[u]}` : ""}`)));
    if (has && pattern(colour)) group.append(s("circle", {cx: x, cy: y, r, fill: `url(#${id}-${pattern(colour)})`, "pointer-events": "none"}));
    const text = words?.(u);
    if (text && (r >= 6 || n <= 60)) group.append(s("text", {class: `label ${has ? (onDark(colour) ? "on-dark" : "on-light") : ""}`, x: x.toFixed(1), y: y.toFixed(1), "font-size": Math.min(12, r * 0.95)}, text));
    circles.append(group);
  }
  svg.append(circles);
  svg.at = at;
  svg.radius = r;
  return svg;
}

/** Marks nodes and the lines between some of them, in place of what was marked before. */
export function mark(svg, nodes = [], pairs = []) {
  if (!svg.at) return;
  svg.querySelectorAll(".marked").forEach((e) => e.classList.remove("marked"));
  svg.querySelectorAll(".pairline").forEach((e) => e.remove());
  for (const [u, v] of pairs) {
    if (u === v) continue;
    svg.insertBefore(s("line", {class: "edge marked pairline", x1: svg.at[u][0], y1: svg.at[u][1], x2: svg.at[v][0], y2: svg.at[v][1], "stroke-width": 3.5, "stroke-dasharray": "6 4"}), svg.lastChild);
  }
  for (const u of new Set([...nodes, ...pairs.flat()])) svg.querySelector(`[data-node="${u}"] circle`)?.classList.add("marked");
}

/** What the fills of labels mean. */
export function key(legend, used = null) {
  const nodes = legend?.nodes;
  if (!nodes) return null;
  const all = nodes.texts.map((text, i) => [text, i]).filter(([, i]) => !used || used.has(i));
  return h("div", {class: "swatches", "aria-label": "Legend"}, all.slice(0, 40).map(([text, i]) => h("span", {}, h("span", {class: "key square", style: {background: fill(i)}}), text)),
    legend.molecules ? h("span", {class: "soft"}, "bonds: single, double, triple; dashed: aromatic") : "");
}

/** The table beside a drawing: its edges. */
export const edgeRows = (drawing, legend) => [["from", "to", ...(drawing.bonds ? ["bond"] : [])],
  ...(drawing.edges ?? []).map(([u, v], i) => [name(drawing, legend, u), name(drawing, legend, v), ...(drawing.bonds ? [drawing.bonds[i]] : [])])];
const name = (drawing, legend, u) => (legend?.nodes && drawing.labels ? `${u} (${legend.nodes.texts[drawing.labels[u]]})` : u);

/** A graph as graph6: the upper triangle of the adjacency matrix, column by column, six bits per letter. */
export function toGraph6(n, edges) {
  const has = new Set(edges.map(([u, v]) => (u < v ? `${u},${v}` : `${v},${u}`)));
  let text = n <= 62 ? String.fromCharCode(n + 63) : "~" + [12, 6, 0].map((k) => String.fromCharCode(((n >> k) & 63) + 63)).join("");
  let [bits, count] = [0, 0];
  for (let v = 1; v < n; v += 1) for (let u = 0; u < v; u += 1) {
    bits = (bits << 1) | (has.has(`${u},${v}`) ? 1 : 0);
    count += 1;
    if (count === 6) { text += String.fromCharCode(bits + 63); [bits, count] = [0, 0]; }
  }
  return count ? text + String.fromCharCode((bits << (6 - count)) + 63) : text;
}
