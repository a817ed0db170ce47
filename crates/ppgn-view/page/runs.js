// The runs of the folder, live: a row per run, the folds of a cross-validation and the trials of a search below one row.

import {askRuns, isExport, listen, query} from "./api.js";
import {spark} from "./chart.js";
import {h, head, problem, put, say, seen, waiting} from "./dom.js";
import {savers} from "./save.js";
import {heads, ordered} from "./table.js";
import {counted, duration} from "./text.js";

const PAGE = 100;

/** Whether a row meets all words of a filter: `seed=3`, `accuracy>0.8`, or a text that occurs in it. */
export function meets(row, words) {
  const fields = row.fields ?? {};
  return words.every((word) => {
    const condition = /^([\w.]+)(<=|>=|!=|=|<|>|~)(.*)$/.exec(word);
    if (condition) {
      const [, key, relation, wanted] = condition;
      const value = fields[key];
      if (value === undefined || value === null) return relation === "!=";
      const [a, b] = [Number(value), Number(wanted)];
      const numbers = wanted !== "" && !Number.isNaN(a) && !Number.isNaN(b);
      switch (relation) {
        case "=": return numbers ? a === b : String(value).toLowerCase() === wanted.toLowerCase();
        case "!=": return numbers ? a !== b : String(value).toLowerCase() !== wanted.toLowerCase();
        case "<": return numbers && a < b;
        case ">": return numbers && a > b;
        case "<=": return numbers && a <= b;
        case ">=": return numbers && a >= b;
        default: return String(value).toLowerCase().includes(wanted.toLowerCase());
      }
    }
    const text = [row.run, fields.dataset, fields.preset, fields.state, row.result, row.kind].join(" ").toLowerCase();
    return text.includes(word.toLowerCase());
  });
}

/** The folder of a run. */
const folder = (name) => (name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : ".");

const link = (row) => {
  if (row.kind) return `#/sweep?${query({folder: row.run})}`;
  return `#/run?${query({run: row.run})}`;
};

const COLUMNS = [
  {key: "run", title: "Run", value: (r) => r.run},
  {key: "state", title: "State", value: (r) => r.fields.state},
  {key: "dataset", title: "Dataset", value: (r) => r.fields.dataset, wide: true},
  {key: "preset", title: "Preset", value: (r) => r.fields.preset, wide: true},
  {key: "seed", title: "Seed", value: (r) => r.fields.seed, number: true, wide: true},
  {key: "result", title: "Best", value: (r) => r.rank, number: true},
  {key: "best_epoch", title: "Epoch", value: (r) => r.fields.best_epoch, number: true, wide: true},
  {key: "curve", title: "Curve"},
  {key: "seconds", title: "Time", value: (r) => r.fields.seconds, number: true, wide: true},
];

export async function show(main, parameters, {signal, change}) {
  const rows = new Map();
  let groups = [];
  let leftOut = 0;
  let sort = parameters.get("sort") ? {key: parameters.get("sort").replace(/^-/, ""), down: parameters.get("sort").startsWith("-")} : {key: "run", down: false};
  let words = parameters.get("filter") ?? "";
  let limit = PAGE;
  const chosen = new Set();
  const open = new Set();
  const fresh = new Set();
  put(main, head("Runs"), waiting());

  const listed = () => {
    const inside = new Map(groups.map((g) => [g.run, []]));
    const lone = [];
    for (const r of rows.values()) (inside.get(folder(r.run)) ?? lone).push(r);
    const filter = words.split(/\s+/).filter(Boolean);
    const matching = [...groups, ...lone].filter((r) => meets(r, filter) || (r.members ? inside.get(r.run).some((m) => meets(m, filter)) : false));
    return ordered(matching, COLUMNS, sort).flatMap((r) => (r.members && open.has(r.run)
      ? [r, ...ordered(inside.get(r.run).map((m) => ({...m, inside: true})), COLUMNS, sort)] : [r]));
  };

  const state = (r) => {
    const kind = r.fields.state;
    const done = r.fields.epochs_done;
    const text = r.error ? "damaged" : kind === "running" && done !== undefined ? `${done} of ${r.fields.epochs}` : (r.state ?? kind);
    return h("span", {class: "state"}, h("span", {class: `dot ${kind}`, "aria-hidden": "true"}),
      kind === "running" && r.fields.epochs ? h("progress", {value: done ?? 0, max: r.fields.epochs, "aria-label": "epochs"}) : "",
      h("span", {}, kind === "running" ? `running, ${text}` : text));
  };

  const cells = (r) => [
    h("td", {}, r.members || r.error ? "" : h("input", {type: "checkbox", checked: chosen.has(r.run), "aria-label": `Compare ${r.run}`,
      on: {change: (e) => { e.target.checked ? chosen.add(r.run) : chosen.delete(r.run); actions(); }}})),
    h("td", {class: "name"}, r.members ? h("button", {type: "button", class: "small", "aria-expanded": String(open.has(r.run)),
      "aria-label": `${open.has(r.run) ? "Hide" : "Show"} the runs of ${r.run}`, on: {click: () => { open.has(r.run) ? open.delete(r.run) : open.add(r.run); body(); }}}, open.has(r.run) ? "−" : "+") : "",
    " ", h("a", {href: link(r)}, r.run), r.members ? h("span", {class: "soft small"}, ` ${r.kind}, ${counted(r.members, {cv: "fold", seeds: "seed"}[r.kind] ?? "trial")}`) : "",
    r.error ? h("div", {class: "bad small"}, r.error) : ""),
    h("td", {}, state(r)),
    h("td", {class: "wide"}, r.fields.dataset ?? ""),
    h("td", {class: "wide"}, r.fields.preset ?? ""),
    h("td", {class: "n wide"}, r.fields.seed ?? ""),
    h("td", {class: "n"}, r.result ?? ""),
    h("td", {class: "n wide"}, r.fields.best_epoch ?? ""),
    h("td", {}, r.spark?.values.length > 0 ? spark(r.spark.values, `${r.spark.what} by epoch`) : ""),
    h("td", {class: "n wide"}, r.fields.seconds !== undefined ? duration(r.fields.seconds) : ""),
  ];

  const tbody = h("tbody", {id: "runs"});
  const thead = h("thead");
  const more = h("p", {class: "row"});
  const compare = h("span", {class: "row"});
  const count = h("span", {class: "soft", id: "count"});

  function actions() {
    const names = [...chosen].filter((name) => rows.has(name));
    put(compare, names.length > 1 ? h("a", {class: "button main", href: `#/compare?${query({run: names})}`}, `Compare ${names.length} runs`)
      : h("span", {class: "soft small"}, "Tick two runs or more to compare them."));
  }

  /** The row as it was drawn before, if nothing about it has changed. */
  const drawn = new Map();
  function kept(r, make) {
    const [source, id] = [rows.get(r.run) ?? r, `${r.run} ${r.kind ?? ""}`];
    const look = `${Boolean(r.inside)} ${open.has(r.run)}`;
    const before = drawn.get(id);
    if (before?.source === source && before.look === look) return before.tr;
    const tr = make();
    drawn.set(id, {source, look, tr});
    return tr;
  }

  function body() {
    const all = listed();
    put(thead, heads([{key: "pick", title: h("span", {class: "unseen"}, "Compare")}, ...COLUMNS], sort, (next) => { sort = next; remember(); body(); }));
    const focused = document.activeElement;
    const [held, label] = [focused?.closest?.("#runs tr")?.dataset.run, focused?.getAttribute?.("aria-label")];
    put(tbody, all.slice(0, limit).map((r) => kept(r, () => h("tr", {class: [r.inside && "inner", fresh.has(r.run) && "fresh"].filter(Boolean).join(" ") || false, "data-run": r.run}, cells(r)))));
    // Who stands on a row stays there, also if it was drawn anew.
    if (held !== undefined) {
      const row = [...tbody.rows].find((tr) => tr.dataset.run === held);
      const same = focused.isConnected ? focused : [...(row?.querySelectorAll("a, button, input") ?? [])].find((e) => e.tagName === focused.tagName && e.getAttribute("aria-label") === label);
      same?.focus({preventScroll: true});
    }
    fresh.clear();
    put(more, all.length > limit ? [h("button", {type: "button", on: {click: () => { limit += PAGE; body(); }}}, `Show ${Math.min(PAGE, all.length - limit)} more`),
      h("span", {class: "soft"}, `${limit} of ${all.length} are shown`)] : "");
    const running = [...rows.values()].filter((r) => r.fields.state === "running").length;
    put(count, `${counted(rows.size, "run")}${running ? `, ${running} running` : ""}${leftOut ? `; ${leftOut} more are not listed` : ""}`);
    actions();
  }

  const remember = () => change({filter: words, sort: sort.key === "run" && !sort.down ? "" : (sort.down ? "-" : "") + sort.key});

  const take = (part, first) => {
    if (first) rows.clear();
    part.rows.forEach((row) => rows.set(row.run, row));
    ({groups, left_out: leftOut} = part);
    first && !framed ? frame() : body();
  };

  const table = () => [["run", "state", "dataset", "preset", "seed", "result", "best epoch", "seconds"],
    ...listed().map((r) => [r.run, r.fields.state, r.fields.dataset, r.fields.preset, r.fields.seed, r.result, r.fields.best_epoch, r.fields.seconds])];
  const search = h("input", {type: "search", value: words, placeholder: "Filter: MUTAG, seed=3, accuracy>0.8", "aria-label": "Filter runs", id: "filter",
    on: {input: (e) => { words = e.target.value; limit = PAGE; remember(); body(); say(`${listed().length} rows`); }}});
  const nothing = h("div", {class: "card"}, h("p", {}, "There are no runs in this folder yet. ", h("code", {}, "ppgn train"), " makes one; it appears here by itself."),
    h("p", {}, "Meanwhile: ", h("a", {href: "#/wl"}, "see Weisfeiler-Leman tests step by step"), "."));
  const card = h("div", {class: "card scroll"}, h("table", {}, h("caption", {class: "unseen"}, "Runs"), thead, tbody), more);
  let framed = false;
  /** The page around the rows, when the first ones are there. */
  function frame() {
    framed = true;
    put(main, head("Runs", count, h("span", {class: "grow"}), savers({rows: table, name: "runs"})),
      h("div", {class: "stack"}, h("div", {class: "row"}, search, compare), rows.size === 0 ? nothing : card));
    body();
    seen("rows");
  }
  let since;
  try {
    since = await askRuns(take, signal);
  } catch (error) {
    if (!signal.aborted) put(main, head("Runs"), problem(error));
    return;
  }
  if (isExport()) return;
  listen((news) => {
    for (const row of news.rows) { rows.set(row.run, row); fresh.add(row.run); }
    for (const name of news.gone) rows.delete(name);
    if (news.groups) groups = news.groups;
    if (rows.size > 0 && nothing.isConnected) nothing.replaceWith(card);
    body();
  }, signal, {since, connected: () => askRuns(take, signal).catch((error) => signal.aborted || console.warn(error.message))});
}
