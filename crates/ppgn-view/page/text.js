// Numbers and times for people.

/** A number with four digits that count. */
export function short(x) {
  if (x === null || x === undefined) return "-";
  if (!Number.isFinite(x)) return "not finite";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-4) return x.toExponential(2);
  return String(Number(x.toPrecision(4)));
}

export const percent = (x) => (x === null || x === undefined ? "-" : (100 * x).toFixed(1) + " %");

/** A duration: 12.3 s, 4 min 10 s, 2 h 5 min. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "-";
  if (seconds < 60) return seconds.toFixed(1) + " s";
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

export function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (n >= 1024 && unit < 3) { n /= 1024; unit += 1; }
  return `${unit === 0 ? n : n.toFixed(1)} ${units[unit]}`;
}

export const counted = (n, one, many) => (n === 1 ? `1 ${one}` : `${n} ${many ?? one + "s"}`);

/** Compares texts piece by piece: digits as numbers. */
export const natural = new Intl.Collator("en", {numeric: true}).compare;

/** Values of any kind in a cell. */
export function plain(value) {
  if (value === null || value === undefined) return "-";
  if (Array.isArray(value)) return value.map(plain).join(", ");
  if (typeof value === "number") return short(value);
  if (typeof value === "object") return Object.entries(value).map(([k, v]) => `${k} ${plain(v)}`).join(", ");
  return String(value);
}
