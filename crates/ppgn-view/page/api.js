// Questions to the server, or in an export to the files beside the page.

const exported = document.querySelector("meta[name=ppgn-export]") !== null;
let index;

/** Whether the page is an export: nothing changes, and what it shows was chosen when it was written. */
export const isExport = () => exported;

/** A query as it is in addresses and in the index of an export: without what is empty, in this order. */
export function query(parameters) {
  const pairs = [];
  for (const [name, value] of Object.entries(parameters ?? {})) {
    for (const one of [value].flat()) {
      if (one === undefined || one === null || one === "") continue;
      pairs.push(encodeURIComponent(name) + "=" + encodeURIComponent(one));
    }
  }
  return pairs.join("&");
}

async function read(address, signal) {
  const answer = await fetch(address, {signal});
  const json = await answer.json().catch(() => ({error: `${answer.status}: not an answer`}));
  if (!answer.ok) throw new Error(json.error ?? String(answer.status));
  return json;
}

/** The answer to a question; `signal` ends it, and what the server computes for it. */
export async function ask(what, parameters, signal) {
  const text = query(parameters);
  const question = text === "" ? what : `${what}?${text}`;
  if (!exported) return read(`api/${question}`, signal);
  index ??= read("api/index.json");
  const file = (await index)[question];
  if (file === undefined) throw new Error("This is not in the export. `ppgn view` computes it.");
  return read(`api/${file}`, signal);
}

/** Calls `news` with whatever changes in the folder of the runs, until the signal. Browsers connect again by themselves. */
export function listen(news, signal, connected) {
  if (exported) return;
  const events = new EventSource("api/runs/events");
  let before = false;
  events.onopen = () => {
    if (before) connected?.();
    before = true;
  };
  events.onmessage = (event) => news(JSON.parse(event.data));
  signal.addEventListener("abort", () => events.close());
}

let known;
/** What the page needs once: the version, and the fills of colours. */
export const about = () => (known ??= ask("about"));
