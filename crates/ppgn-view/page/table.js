// Tables that sort by a click on a head.

import {h} from "./dom.js";
import {natural} from "./text.js";

const compare = (a, b) => {
  if (a === b) return 0;
  if (a === null || a === undefined || a === "") return 1;
  if (b === null || b === undefined || b === "") return -1;
  return typeof a === "number" && typeof b === "number" ? a - b : natural(String(a), String(b));
};

/** Rows in the order of a column: `sort` is {key, down}; what has no value comes last either way. */
export function ordered(rows, columns, sort) {
  const column = columns.find((c) => c.key === sort?.key);
  if (!column) return rows;
  const missing = (v) => v === null || v === undefined || v === "";
  return [...rows].sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    return (missing(x) || missing(y) || !sort.down ? 1 : -1) * compare(x, y);
  });
}

/** The heads of a table: columns {key, title, number, wide}; `choose(sort)` is called with the new order. */
export function heads(columns, sort, choose) {
  return h("tr", {}, columns.map((c) => {
    const now = c.value && sort?.key === c.key;
    return h("th", {scope: "col", class: [c.number && "n", c.wide && "wide"].filter(Boolean).join(" ") || false,
      "aria-sort": now ? (sort.down ? "descending" : "ascending") : false},
    c.value ? h("button", {type: "button", on: {click: () => choose({key: c.key, down: now ? !sort.down : Boolean(c.down)})}}, c.title) : c.title);
  }));
}

/** A plain table of texts: the first row has the heads. */
export function simple([first, ...rest], caption) {
  return h("div", {class: "scroll"}, h("table", {}, caption && h("caption", {class: "unseen"}, caption),
    h("thead", {}, h("tr", {}, first.map((c, i) => h("th", {scope: "col", class: i > 0 && "n"}, c)))),
    h("tbody", {}, rest.map((row) => h("tr", {}, row.map((c, i) => (i === 0 ? h("th", {scope: "row"}, c) : h("td", {class: "n"}, c))))))));
}
