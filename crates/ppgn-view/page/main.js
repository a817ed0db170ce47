// Where the page begins: which view an address means, and keys that work everywhere.

import {isExport} from "./api.js";
import {h, problem, put} from "./dom.js";

const VIEWS = {
  runs: {title: "Runs", load: () => import("./runs.js"), key: "1"},
  data: {title: "Datasets", short: "Data", load: () => import("./dataset.js"), key: "2"},
  wl: {title: "Weisfeiler-Leman", short: "WL", load: () => import("./wl.js"), key: "3"},
  network: {title: "Network", load: () => import("./network.js"), key: "4"},
  run: {title: "Run", load: () => import("./run.js"), under: "runs"},
  compare: {title: "Compare", load: () => import("./compare.js"), under: "runs"},
  sweep: {title: "Sweep", load: () => import("./sweep.js"), under: "runs"},
};

const main = document.getElementById("main");
const nav = document.getElementById("nav");
let leaving = new AbortController();

function place() {
  const [name, parameters] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return {name: VIEWS[name] ? name : "runs", parameters: new URLSearchParams(parameters ?? "")};
}

/** Writes parameters to the address without showing the view anew, so that a link carries the state. */
function change(name, parameters) {
  const pairs = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    for (const one of [value].flat()) if (one !== "" && one !== null && one !== undefined) pairs.append(key, one);
  }
  const text = pairs.toString();
  history.replaceState(null, "", `#/${name}${text ? "?" + text : ""}`);
}

async function show() {
  leaving.abort();
  leaving = new AbortController();
  const {signal} = leaving;
  const {name, parameters} = place();
  const view = VIEWS[name];
  document.title = `${view.title} - ppgn`;
  put(nav, Object.entries(VIEWS).filter(([, v]) => v.key).map(([key, v]) => h("a", {
    href: `#/${key}`, title: `${v.title} (${v.key})`, "aria-current": (key === name || key === view.under) && "page", "aria-label": v.title},
  h("span", {class: "long"}, v.title), h("span", {class: "short"}, v.short ?? v.title))));
  main.dataset.view = name;
  delete main.dataset.ready;
  try {
    const module = await view.load();
    if (signal.aborted) return;
    await module.show(main, parameters, {signal, change: (next) => signal.aborted || change(name, next)});
  } catch (error) {
    if (!signal.aborted) put(main, problem(error));
  }
  if (!signal.aborted) main.dataset.ready = name;
}

const THEMES = ["", "light", "dark"];
const button = document.getElementById("theme");
function theme(next) {
  if (next) document.documentElement.dataset.theme = next;
  else delete document.documentElement.dataset.theme;
  put(button, h("span", {"aria-hidden": "true"}, {"": "◐", light: "○", dark: "●"}[next]), h("span", {class: "long"}, next || "system"));
  button.setAttribute("aria-label", `Theme: ${next || "system"}`);
  try { localStorage.setItem("ppgn-theme", next); } catch { /* a browser may keep nothing */ }
}
const now = () => document.documentElement.dataset.theme ?? "";
button.addEventListener("click", () => theme(THEMES[(THEMES.indexOf(now()) + 1) % THEMES.length]));
let kept = "";
try { kept = localStorage.getItem("ppgn-theme") ?? ""; } catch { /* the same */ }
theme(THEMES.includes(kept) ? kept : "");

addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, select, textarea");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const view = Object.entries(VIEWS).find(([, v]) => v.key === event.key);
  if (view) location.hash = `#/${view[0]}`;
  if (event.key === "t") button.click();
  if (event.key === "/") { event.preventDefault(); main.querySelector("input[type=search], input[type=text]")?.focus(); }
});
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
addEventListener("hashchange", () => { show().then(() => main.focus({preventScroll: true})); scrollTo(0, 0); });
if (isExport()) document.body.classList.add("export");
show();
