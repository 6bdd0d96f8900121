// Numbers and words as in the terminal. A number and its unit stay on one line (\u00a0).

export const DASH = "–";

/** Verdicts, worst first, each with a mark of its own: colour is never the only sign. */
export const LEVELS = { stuck: "■", thrashing: "⇄", strained: "◆", unreachable: "✕", tight: "▲", unknown: "?", calm: "✓", none: "·" };

export const ROLES = ["router", "prefill", "decode", "unified", "store", "unknown"];

export const stateWord = (state) => state.replace("_", " ");

// Ten times as fast as the browser's own, and there are many.
export const grouped = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ",");

/** A count: 65,536, 2.58 M, 12.40 G. */
export function count(value) {
  if (value >= 1e9) return `${(value / 1e9).toFixed(2)}\u00a0G`;
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)}\u00a0M`;
  if (Number.isInteger(value) || value >= 1000) return grouped(Math.round(value));
  return value.toFixed(1);
}

/** A share: 28.3 %; what would round to nothing or to all keeps a sign that it is not. */
function percent(ratio) {
  const value = ratio * 100;
  if (value > 0 && value < 0.05) return "<0.1\u00a0%";
  if (value >= 99.95 && value < 100) return ">99.9\u00a0%";
  return `${value.toFixed(1)}\u00a0%`;
}

export function bytes(value) {
  for (const [scale, name] of [[4, "TiB"], [3, "GiB"], [2, "MiB"], [1, "KiB"]]) {
    if (value >= 1024 ** scale) return `${(value / 1024 ** scale).toFixed(1)}\u00a0${name}`;
  }
  return `${value.toFixed(0)}\u00a0B`;
}

export function amount(value, unit) {
  if (unit === "ratio") return percent(value);
  if (unit === "bytes") return bytes(value);
  return count(value);
}

/** Seconds between looks: 0.5 s, 5 s, 5 min. */
export const interval = (seconds) => (seconds < 10 ? `${+seconds.toFixed(1)}\u00a0s` : span(seconds));

/** Seconds as an age: 3 s, 12 min, 4.2 h, 3 days. */
export function span(seconds) {
  if (seconds < 120) return `${Math.max(0, Math.floor(seconds))}\u00a0s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}\u00a0min`;
  if (seconds < 172800) return `${(seconds / 3600).toFixed(1)}\u00a0h`;
  return `${Math.floor(seconds / 86400)} days`;
}

/** A local time as 2026-11-30T14:05:09. */
export const local = (at) => new Date((at - new Date(at * 1000).getTimezoneOffset() * 60) * 1000).toISOString();

/** A time of day; with the date where it is not today's. */
export function clock(at, now = Date.now() / 1000) {
  const [day, time] = [local(at).slice(0, 10), local(at).slice(11, 19)];
  return local(now).startsWith(day) ? time : `${day} ${time}`;
}

/** In which zone times are shown: logs may be in another. */
export function zone(at = Date.now() / 1000) {
  const minutes = -new Date(at * 1000).getTimezoneOffset();
  const away = Math.abs(minutes);
  return `UTC${minutes ? (minutes < 0 ? "−" : "+") + Math.floor(away / 60) + (away % 60 ? `:${String(away % 60).padStart(2, "0")}` : "") : ""}`;
}

export const listed = (parts, by = " · ") => parts.filter(Boolean).join(by);

export const several = (n, what) => `${grouped(n)} ${what}${n === 1 ? "" : "s"}`;

/** The value of a short reading `[value, state, precision, reason, age]`, or null. */
export function value(reading) {
  return reading && typeof reading[0] === "number" && reading[1] !== "impossible" ? reading[0] : null;
}

/** ± where it is more than what is shown anyway. */
function plusMinus(reading, unit) {
  const off = reading?.[2];
  if (!off || (unit === "ratio" ? off < 0.0005 : off < 0.5)) return "";
  return ` ±${amount(off, unit)}`;
}

/** A short reading with ±, a dash where there is no value. */
export function figure(reading, unit) {
  const told = value(reading);
  return told === null ? DASH : amount(told, unit) + plusMinus(reading, unit);
}

/** The same of what may be over: "was" stands before it where it is. */
export const dated = (reading, unit, stale) => (value(reading) !== null && (stale || reading[1] === "stale") ? "was " : "") + figure(reading, unit);

/** The same, with its state and reason where it is not plain. */
export function spoken(reading, unit) {
  const state = reading?.[1] ?? "not_reported";
  const why = reading?.[3] ? `: ${reading[3]}` : "";
  if (value(reading) === null) return `${DASH} (${stateWord(state)}${why})`;
  return figure(reading, unit) + (state === "reported" || state === "derived" ? "" : ` (${stateWord(state)}${why})`);
}

/** Why nothing answers, without the address that stands beside it. */
export const cause = (text) => text.match(/\(([^()]+)\)$/)?.[1] ?? text.replace(/^GET \S+ /, "");

/** A server's address without what all of them share. */
export const short = (url) => String(url).replace(/^http:\/\//, "").replace(/\/$/, "");
