// What is shown as a file: SVG and PNG of a drawing, CSV of its table.

import {h} from "./dom.js";

function download(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = h("a", {href: address, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

const LOOK = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight",
  "text-anchor", "dominant-baseline"];

/** A drawing that needs no style sheet: what it has from the page is written to its elements. */
export function standalone(svg) {
  const copy = svg.cloneNode(true);
  const [from, to] = [[svg, ...svg.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  from.forEach((element, i) => {
    const look = getComputedStyle(element);
    for (const name of LOOK) {
      const value = look.getPropertyValue(name);
      if (value !== "") to[i].setAttribute(name, value);
    }
    to[i].removeAttribute("class");
    to[i].removeAttribute("style");
  });
  const box = svg.viewBox.baseVal;
  const [width, height] = box && box.width > 0 ? [box.width, box.height] : [svg.clientWidth, svg.clientHeight];
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of [["x", box?.x ?? 0], ["y", box?.y ?? 0], ["width", width], ["height", height]]) {
    ground.setAttribute(name, value);
  }
  ground.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  copy.prepend(ground);
  return {text: new XMLSerializer().serializeToString(copy), width, height};
}

export function saveSvg(svg, name) {
  download(`${name}.svg`, new Blob([standalone(svg).text], {type: "image/svg+xml"}));
}

/** A drawing, or a canvas, as PNG with twice the points. */
export async function savePng(drawing, name) {
  let canvas = drawing;
  if (!(drawing instanceof HTMLCanvasElement)) {
    const {text, width, height} = standalone(drawing);
    const address = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}));
    const picture = new Image();
    picture.src = address;
    await picture.decode();
    canvas = h("canvas", {width: Math.ceil(2 * width), height: Math.ceil(2 * height)});
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
  }
  canvas.toBlob((blob) => download(`${name}.png`, blob), "image/png");
}

const cell = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  // A spreadsheet must not take a name for a formula.
  const safe = /^[=+@\t\r]|^-(?![\d.])/.test(text) ? "'" + text : text;
  return /[",\n\r]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
};

export const csv = (rows) => rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";

export function saveCsv(rows, name) {
  download(`${name}.csv`, new Blob([csv(rows)], {type: "text/csv"}));
}

/** The buttons beside a drawing: `drawing()` gives an SVG or a canvas or nothing, `rows()` its table. */
export function savers({drawing, rows, name}) {
  const clean = () => (typeof name === "function" ? name() : name).replaceAll(/[^\w.-]+/g, "-").slice(0, 80);
  const button = (label, title, act) => h("button", {type: "button", class: "small", title, on: {click: act}}, label);
  return h("span", {class: "save"},
    drawing && button("PNG", "Save as PNG", () => savePng(drawing(), clean())),
    drawing && !(drawing() instanceof HTMLCanvasElement) && button("SVG", "Save as SVG", () => saveSvg(drawing(), clean())),
    rows && button("CSV", "Save the numbers as CSV", () => saveCsv(rows(), clean())));
}

/** The numbers of a drawing as a table that opens; filled when it is opened, and again by `refresh`. */
export function numbers(rows, caption) {
  const body = h("div", {class: "scroll"});
  const fill = () => {
    const [first, ...rest] = rows();
    body.replaceChildren(h("table", {}, h("caption", {class: "unseen"}, caption),
      h("thead", {}, h("tr", {}, first.map((c) => h("th", {scope: "col"}, c)))),
      h("tbody", {}, rest.slice(0, 500).map((row) => h("tr", {}, row.map((c, i) => h("td", {class: i > 0 && "n"}, c)))))),
      rest.length > 500 ? h("p", {class: "soft small"}, `The first 500 of ${rest.length} rows; the CSV has all.`) : "");
  };
  const details = h("details", {on: {toggle: () => details.open && fill()}}, h("summary", {}, "Table"), body);
  details.refresh = () => details.open && fill();
  return details;
}
