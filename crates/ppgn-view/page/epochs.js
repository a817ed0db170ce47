// The epochs of a run as far as the page has them: of a long run some at equal distances, the best and the last.

import {ask} from "./api.js";
import {counted} from "./text.js";

/** Asks for a run; of one that was asked for before, only for the epochs since. */
export async function load(name, before, signal) {
  const from = before?.grid.at(-1)?.epoch;
  const run = await ask("run", {run: name, from, reading: from && before.reading}, signal);
  const stays = (e) => (e.epoch - 1) % run.step === 0;
  run.grid = run.from > 0 ? [...before.grid.filter(stays), ...run.epochs] : run.epochs;
  const all = new Map([...run.grid, ...run.extra].map((e) => [e.epoch, e]));
  run.epochs = [...all.values()].sort((a, b) => a.epoch - b.epoch);
  return run;
}

const ORDINALS = {1: "st", 2: "nd", 3: "rd"};
const nth = (n) => n + ((n % 100 > 10 && n % 100 < 14) ? "th" : ORDINALS[n % 10] ?? "th");

/** What is not drawn of a run, in words; empty where all is. */
export const leftOut = (run) => (run.step > 1
  ? `Every ${nth(run.step)} of ${counted(run.epochs_done, "epoch")} is shown, with the best and the last; metrics.jsonl has all.` : "");
