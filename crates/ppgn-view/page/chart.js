// Charts: curves with a cursor and zoom, bars, dots. Each is a figure with its legend, its numbers as a table, and buttons to
// save it.

import {h, put, s} from "./dom.js";
import {numbers, savers} from "./save.js";
import {short} from "./text.js";

const WIDTH = 520;
const HEIGHT = 280;
const ROOM = {left: 58, right: 14, top: 12, bottom: 40};
const PALETTE = 8;

/** The colour of the i-th curve, as a variable of the style sheet. */
export const tone = (i) => `var(--c${i % PALETTE})`;

/** Round numbers from low to high, about five of them. */
export function ticks(low, high, count = 5) {
  const rough = (high - low) / count;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((x) => x >= rough);
  const all = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i += 1) all.push(Number((i * step).toPrecision(12)));
  return all;
}

function extent(values, pad) {
  let [low, high] = [Infinity, -Infinity];
  for (const v of values) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
  if (low > high) return [0, 1];
  if (low === high) { const d = Math.abs(low) * 0.1 || 0.5; return [low - d, high + d]; }
  const room = (high - low) * pad;
  return [low - room, high + room];
}

/** A scale from numbers to places: linear, or by powers of ten. */
function scale([low, high], [from, to], log) {
  const f = log ? Math.log10 : (x) => x;
  const span = f(high) - f(low) || 1;
  const place = (x) => from + ((f(x) - f(low)) / span) * (to - from);
  place.back = (p) => { const v = f(low) + ((p - from) / (to - from)) * span; return log ? 10 ** v : v; };
  return place;
}

const logTicks = (low, high) => {
  const all = [];
  for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; e += 1) all.push(10 ** e);
  return all.length >= 2 ? all : ticks(low, high);
};

function axes(svg, x, y, {xTicks, yTicks, xTitle, yTitle, format}) {
  const bottom = HEIGHT - ROOM.bottom;
  for (const v of yTicks) {
    svg.append(s("line", {class: "gridline", x1: ROOM.left, x2: WIDTH - ROOM.right, y1: y(v), y2: y(v)}),
      s("text", {x: ROOM.left - 8, y: y(v) + 4, "text-anchor": "end"}, format.y(v)));
  }
  for (const v of xTicks) {
    svg.append(s("text", {x: x(v), y: bottom + 17, "text-anchor": "middle"}, format.x(v)));
  }
  svg.append(s("path", {class: "axis", d: `M${ROOM.left} ${ROOM.top}V${bottom}H${WIDTH - ROOM.right}`}),
    s("text", {x: (ROOM.left + WIDTH - ROOM.right) / 2, y: HEIGHT - 5, "text-anchor": "middle"}, xTitle ?? ""),
    s("text", {x: 0, y: 0, "text-anchor": "middle", transform: `translate(13 ${(ROOM.top + bottom) / 2}) rotate(-90)`}, yTitle ?? ""));
}

/**
 * Curves over a common axis. `series`: [{name, points: [[x, y], ...], colour}]. Drag to zoom, double click to see all, arrow
 * keys to move the cursor. `update(series, best)` draws it anew, with the same zoom.
 */
export function curves({title, series, xTitle = "epoch", yTitle = "", format = short, best = null, dots = false, logX = false, link = null}) {
  let zoom = null;
  let at = null;
  const hidden = new Set();
  const svg = s("svg", {class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", tabindex: 0, "aria-label": `${title}: a chart; its table follows`});
  const tip = h("div", {class: "tip", hidden: true});
  const legend = h("div", {class: "legend"});
  const rows = () => {
    const xs = [...new Set(series.flatMap((c) => c.points.map((p) => p[0])))].sort((a, b) => a - b);
    if (dots) return [["series", xTitle, title], ...series.flatMap((c) => c.points.map((p) => [c.name, p[0], p[1]]))];
    const maps = series.map((c) => new Map(c.points));
    return [[xTitle, ...series.map((c) => c.name)], ...xs.map((x) => [x, ...maps.map((m) => m.get(x) ?? "")])];
  };
  const table = numbers(rows, title);
  let place = null;

  function draw() {
    put(svg);
    const shown = series.filter((c) => !hidden.has(c.name));
    const all = shown.flatMap((c) => c.points);
    const xRange = zoom ?? extent(all.map((p) => p[0]), dots ? 0.05 : 0);
    const inside = all.filter((p) => p[0] >= xRange[0] && p[0] <= xRange[1]);
    const yRange = extent(inside.map((p) => p[1]), 0.06);
    const log = logX && xRange[0] > 0;
    const x = scale(xRange, [ROOM.left, WIDTH - ROOM.right], log);
    const y = scale(yRange, [HEIGHT - ROOM.bottom, ROOM.top]);
    place = {x, y, xRange, shown};
    const whole = xTitle === "epoch";
    const xTicks = (log ? logTicks(...xRange) : ticks(...xRange)).filter((v) => v >= xRange[0] && v <= xRange[1] && (!whole || Number.isInteger(v)));
    axes(svg, x, y, {xTicks, yTicks: ticks(...yRange), xTitle, yTitle, format: {x: short, y: format}});
    if (best !== null && best >= xRange[0] && best <= xRange[1]) {
      svg.append(s("line", {class: "bestline", x1: x(best), x2: x(best), y1: ROOM.top, y2: HEIGHT - ROOM.bottom}),
        s("text", {x: Math.min(x(best) + 4, WIDTH - 74), y: ROOM.top + 10}, `best: ${best}`));
    }
    for (const c of shown) {
      const points = c.points.filter((p) => Number.isFinite(p[1]) && p[0] >= xRange[0] && p[0] <= xRange[1]);
      const colour = c.colour ?? tone(series.indexOf(c));
      if (dots && !c.line || points.length === 1) {
        svg.append(...points.map((p) => s("circle", {cx: x(p[0]).toFixed(1), cy: y(p[1]).toFixed(1), r: 4.5, opacity: 0.8, style: {fill: colour}})));
      }
      if (!dots || c.line) {
        const d = points.map((p, i) => `${i ? "L" : "M"}${x(p[0]).toFixed(1)} ${y(p[1]).toFixed(1)}`).join("");
        svg.append(s("path", {class: "curve", d, style: {stroke: colour}, "stroke-dasharray": c.dash ?? false}));
      }
    }
    put(legend, series.length > 1 || series[0]?.name ? series.map((c, i) => h("button", {
      type: "button", "aria-pressed": String(!hidden.has(c.name)), title: "Show or hide",
      on: {click: () => { hidden.has(c.name) ? hidden.delete(c.name) : hidden.add(c.name); draw(); }},
    }, h("span", {class: "key", style: {background: c.colour ?? tone(i)}}), c.name)) : [],
    zoom && h("button", {type: "button", class: "small", on: {click: () => { zoom = null; draw(); }}}, "All of it"));
    table.refresh();
    if (at !== null) point(at);
  }

  /** Shows the numbers nearest to a value across. */
  function point(value) {
    at = value;
    const {x, y, shown} = place;
    svg.querySelectorAll(".cursor").forEach((e) => e.remove());
    const near = shown.filter((c) => !c.line).flatMap((c) => {
      const hit = c.points.reduce((a, p) => (!Number.isFinite(p[1]) ? a : a === null || Math.abs(p[0] - value) < Math.abs(a[0] - value) ? p : a), null);
      return hit ? [{c, hit}] : [];
    });
    if (near.length === 0) { tip.hidden = true; return; }
    const closest = near.reduce((a, n) => (Math.abs(n.hit[0] - value) < Math.abs(a - value) ? n.hit[0] : a), near[0].hit[0]);
    const here = near.filter((n) => n.hit[0] === closest);
    svg.append(s("line", {class: "cursor", x1: x(closest), x2: x(closest), y1: ROOM.top, y2: HEIGHT - ROOM.bottom}),
      ...here.map(({c, hit}) => s("circle", {class: "cursor", cx: x(hit[0]), cy: y(hit[1]), r: 4, style: {fill: c.colour ?? tone(series.indexOf(c))}})));
    put(tip, h("strong", {}, `${xTitle} ${short(closest)}`), h("table", {}, here.map(({c, hit}) => h("tr", {},
      h("td", {}, h("span", {class: "key", style: {background: c.colour ?? tone(series.indexOf(c))}}), " ", hit[2] ?? c.name), h("td", {class: "n"}, format(hit[1]))))));
    tip.hidden = false;
    const share = x(closest) / WIDTH;
    tip.style.left = share > 0.6 ? "auto" : `calc(${(100 * share).toFixed(1)}% + 12px)`;
    tip.style.right = share > 0.6 ? `calc(${(100 * (1 - share)).toFixed(1)}% + 12px)` : "auto";
    tip.style.top = "3rem";
    return {closest, here};
  }

  const value = (event) => {
    const box = svg.getBoundingClientRect();
    return place.x.back(((event.clientX - box.left) / box.width) * WIDTH);
  };
  let start = null;
  const leave = () => { at = null; tip.hidden = true; svg.querySelectorAll(".cursor, .brush").forEach((e) => e.remove()); };
  svg.addEventListener("pointermove", (event) => {
    point(value(event));
    svg.querySelectorAll(".brush").forEach((e) => e.remove());
    if (start === null) return;
    const [a, b] = [place.x(start), place.x(value(event))].sort((m, n) => m - n);
    svg.append(s("rect", {class: "brush", x: a, width: b - a, y: ROOM.top, height: HEIGHT - ROOM.top - ROOM.bottom}));
  });
  svg.addEventListener("pointerleave", () => { start = null; leave(); });
  svg.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse") start = value(event); });
  svg.addEventListener("pointerup", (event) => {
    const [a, b] = [start, value(event)].sort((m, n) => m - n);
    const moved = start !== null && Math.abs(place.x(a) - place.x(b)) > 8;
    start = null;
    if (moved) { zoom = [Math.max(a, place.xRange[0]), Math.min(b, place.xRange[1])]; draw(); } else if (link) {
      const hit = point(value(event))?.here[0]?.hit;
      if (hit?.[3]) link(hit[3]);
    }
  });
  svg.addEventListener("dblclick", () => { zoom = null; draw(); });
  svg.addEventListener("keydown", (event) => {
    const xs = [...new Set(place.shown.flatMap((c) => c.points.map((p) => p[0])))].filter((v) => v >= place.xRange[0] && v <= place.xRange[1]).sort((a, b) => a - b);
    if (xs.length === 0) return;
    const now = at === null ? -1 : xs.reduce((k, v, i) => (Math.abs(v - at) < Math.abs(xs[k] - at) ? i : k), 0);
    const next = {ArrowRight: Math.min(now + 1, xs.length - 1), ArrowLeft: Math.max(now - 1, 0), Home: 0, End: xs.length - 1}[event.key];
    if (next !== undefined) { event.preventDefault(); point(xs[next]); }
    if (event.key === "+" || event.key === "-") {
      const [a, b] = place.xRange;
      const [mid, half] = [at ?? (a + b) / 2, ((b - a) / 2) * (event.key === "+" ? 0.5 : 2)];
      zoom = event.key === "-" && half * 2 >= extent(series.flatMap((c) => c.points.map((p) => p[0])), 0).reduce((m, n) => n - m) ? null : [mid - half, mid + half];
      draw();
    }
    if (event.key === "Escape") { zoom = null; leave(); draw(); }
  });
  svg.addEventListener("blur", leave);
  const element = h("figure", {class: "card"},
    h("figcaption", {}, title, savers({drawing: () => svg, rows, name: title})), svg, tip, legend, table);
  draw();
  element.update = (next, nextBest) => { series = next; best = nextBest ?? null; draw(); };
  return element;
}

/** Bars: [{name, value, colour}], with `pick(i)` on a click. */
export function bars({title, items, xTitle = "", yTitle = "", format = short, pick = null}) {
  const svg = s("svg", {class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: a chart; its table follows`});
  const rows = () => [[xTitle || "name", yTitle || "value"], ...items.map((item) => [item.name, item.value])];
  const high = Math.max(1e-12, ...items.map((item) => item.value));
  const y = scale([0, high * 1.05], [HEIGHT - ROOM.bottom, ROOM.top]);
  const step = (WIDTH - ROOM.left - ROOM.right) / Math.max(1, items.length);
  axes(svg, null, y, {xTicks: [], yTicks: ticks(0, high), xTitle, yTitle, format: {y: format}});
  const every = Math.ceil(items.length / 14);
  items.forEach((item, i) => {
    const left = ROOM.left + i * step;
    svg.append(s("rect", {class: "bar", x: left + step * 0.1, width: Math.max(0.8, step * 0.8), y: y(item.value), height: Math.max(0, HEIGHT - ROOM.bottom - y(item.value)), style: item.colour ? {fill: item.colour} : undefined, on: pick ? {click: () => pick(i)} : undefined},
      s("title", {}, `${item.name}: ${format(item.value)}`)));
    if (i % every === 0) svg.append(s("text", {x: left + step / 2, y: HEIGHT - ROOM.bottom + 17, "text-anchor": "middle"}, item.name));
  });
  return h("figure", {class: "card"}, h("figcaption", {}, title, savers({drawing: () => svg, rows, name: title})), svg, numbers(rows, title));
}

/** A small curve without axes. */
export function spark(values, label) {
  const [low, high] = extent(values, 0.08);
  const x = (i) => 3 + (i / Math.max(1, values.length - 1)) * 104;
  const y = (v) => 25 - ((v - low) / (high - low)) * 22;
  const d = values.length === 1 ? `M3 ${y(values[0])}h104` : values.map((v, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join("");
  return s("svg", {class: "spark", viewBox: "0 0 110 28", role: "img", "aria-label": label}, s("path", {d}));
}
