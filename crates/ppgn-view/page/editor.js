// A small editor: click to add a node, drag from node to node to join or separate them, double click to remove one. With the
// keyboard: a table of pairs.

import {h, put, s} from "./dom.js";
import {toGraph6} from "./graph.js";

const SIDE = 400;

export function editor(title, use) {
  let nodes = [];
  let edges = [];
  let from = null;
  let trail = null;
  const svg = s("svg", {class: "graph", viewBox: `0 0 ${SIDE} ${SIDE}`, role: "img", "aria-label": `${title}: drawing area; the list below does the same`});
  const list = h("p", {class: "soft small"});
  const text = h("input", {type: "text", placeholder: "edges: 0-1 1-2 2-0", "aria-label": `${title}: edges`, on: {keydown: (e) => e.key === "Enter" && read()}});
  const place = (event) => {
    const box = svg.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * SIDE, ((event.clientY - box.top) / box.height) * SIDE];
  };
  const near = ([x, y]) => nodes.findIndex(([u, v]) => Math.hypot(u - x, v - y) < 18);
  const same = (u, v) => ([a, b]) => (a === u && b === v) || (a === v && b === u);
  function draw() {
    put(svg, s("rect", {x: 1, y: 1, width: SIDE - 2, height: SIDE - 2, rx: 10, fill: "none", class: "gridline"}),
      edges.map(([u, v]) => s("line", {class: "edge", "stroke-width": 2, x1: nodes[u][0], y1: nodes[u][1], x2: nodes[v][0], y2: nodes[v][1]})),
      trail && s("line", {class: "edge marked", "stroke-width": 2, x1: nodes[from][0], y1: nodes[from][1], x2: trail[0], y2: trail[1]}),
      nodes.map(([x, y], u) => [s("circle", {class: u === from ? "node plain marked" : "node plain", cx: x, cy: y, r: 13}), s("text", {class: "label", x, y}, u)]),
      nodes.length === 0 && s("text", {x: SIDE / 2, y: SIDE / 2, "text-anchor": "middle"}, "click to add nodes, drag to join them"));
    put(list, `${nodes.length} nodes, ${edges.length} edges`);
    text.value = edges.map(([u, v]) => `${u}-${v}`).join(" ");
  }
  function read() {
    const pairs = [...text.value.matchAll(/(\d+)\s*-\s*(\d+)/g)].map((m) => [Number(m[1]), Number(m[2])]).filter(([u, v]) => u !== v && u < 60 && v < 60);
    const n = Math.max(0, ...pairs.flat().map((u) => u + 1));
    nodes = Array.from({length: n}, (_, i) => nodes[i] ?? [SIDE / 2 + 150 * Math.cos((2 * Math.PI * i) / n), SIDE / 2 + 150 * Math.sin((2 * Math.PI * i) / n)]);
    edges = pairs.filter(([u, v], i) => pairs.findIndex(same(u, v)) === i);
    draw();
  }
  svg.addEventListener("pointerdown", (event) => {
    const at = place(event);
    const hit = near(at);
    if (hit >= 0) { from = hit; trail = at; svg.setPointerCapture(event.pointerId); } else if (nodes.length < 60) nodes.push(at);
    draw();
  });
  svg.addEventListener("pointermove", (event) => { if (from !== null) { trail = place(event); draw(); } });
  svg.addEventListener("pointerup", (event) => {
    const to = near(place(event));
    if (from !== null && to >= 0 && to !== from) {
      const known = edges.findIndex(same(from, to));
      if (known >= 0) edges.splice(known, 1); else edges.push([from, to]);
    }
    [from, trail] = [null, null];
    draw();
  });
  svg.addEventListener("dblclick", (event) => {
    const hit = near(place(event));
    if (hit < 0) return;
    nodes.splice(hit, 1);
    edges = edges.filter((e) => !e.includes(hit)).map((e) => e.map((u) => (u > hit ? u - 1 : u)));
    draw();
  });
  draw();
  return h("div", {}, h("h3", {}, title), svg, list, h("div", {class: "row"}, text,
    h("button", {type: "button", on: {click: read}}, "Draw these"),
    h("button", {type: "button", on: {click: () => { [nodes, edges] = [[], []]; draw(); }}}, "Clear"),
    h("button", {type: "button", class: "main", on: {click: () => nodes.length > 0 && use(toGraph6(nodes.length, edges))}}, "Use it")));
}
