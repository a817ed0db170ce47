// Elements from code. Every text becomes a text node: a name from a file is never markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else if (name === "style") for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** An HTML element: h("p", {class: "soft", on: {click: f}}, "text", other). */
export const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);

/** An SVG element. */
export const s = (tag, properties, ...children) => fill(document.createElementNS(SVG, tag), properties, children);

/** Replaces what an element has. */
export function put(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

/** Says something to screen readers. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

/** A message in the place of what could not be shown. */
export const problem = (error) => h("p", {class: "error", role: "alert"}, error?.message ?? String(error));

/** Shows that something is on its way. */
export const waiting = (text) => h("p", {class: "soft"}, h("span", {class: "spinner"}), " ", text ?? "Loading ...");

/** Notes the time at which something that was just put on the page can be seen, as a mark of `performance`. */
export const seen = (what) => requestAnimationFrame(() => setTimeout(() => performance.mark(what)));

/** A heading with what stands beside it. */
export const head = (title, ...beside) => h("div", {class: "head"}, h("h1", {}, title), beside);
