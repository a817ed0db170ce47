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
  if (!answer.ok) throw Object.assign(new Error(json.error ?? String(answer.status)), {status: answer.status});
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

/** The list of runs, part by part: `take(part, isFirst)` is called with each. Answers with the version of the list. */
export async function askRuns(take, signal) {
  for (let tries = 3; ; tries -= 1) {
    try {
      const first = await ask("runs", {}, signal);
      take(first, true);
      for (let {next} = first; next && !signal?.aborted;) {
        const part = await ask("runs", {after: next}, signal);
        take(part, false);
        ({next} = part);
      }
      return first.version;
    } catch (error) {
      // The run after which it went on was removed.
      if (error.status !== 410 || tries === 0) throw error;
    }
  }
}

/**
 * Calls `news` with whatever changes in the folder of the runs, from a version of the list or from now on, until the signal.
 * Browsers connect again by themselves, and then `connected` is called: there may be anything new.
 */
export function listen(news, signal, {since, connected} = {}) {
  if (exported || signal.aborted) return;
  const events = new EventSource(`api/runs/events${since === undefined ? "" : `?since=${since}`}`);
  let before = false;
  events.onopen = () => {
    if (before) connected?.();
    before = true;
  };
  events.onmessage = (event) => {
    const what = JSON.parse(event.data);
    // More than one message holds.
    if (what.all) connected?.();
    else news(what);
  };
  signal.addEventListener("abort", () => events.close());
}

let known;
/** What the page needs once: the version, and the fills of colours. */
export const about = () => (known ??= ask("about"));
