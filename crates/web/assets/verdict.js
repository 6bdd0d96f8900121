// The first thing read at three in the morning: which server, how full, why, and what to do.

import { h, hashOf, mark, renew, say, find, copyButton, worded } from "./dom.js";
import { LEVELS, clock, dated, figure, grouped, listed, several, short, span, spoken, value, zone } from "./words.js";
import { fleet, age, bindingPool, byRouter, isStale, levelOf, serverNow, worst } from "./store.js";

function levelMark(level, word = level) {
  return h("b", { class: `level lv-${level}` }, h("span", { "aria-hidden": "true" }, LEVELS[level] ?? "?"), ` ${word}`);
}

/** Shows a verdict, or that it was one. */
export function setLevel(into, level) {
  const word = fleet.lost ? `was ${level}` : level;
  renew(into, word, () => [level !== "none" && levelMark(level, word)]);
}

export function fullness(server) {
  const pool = bindingPool(server);
  if (!pool) return { figure: "", rest: server.role === "router" ? "no cache of its own" : "" };
  const { unit } = pool;
  if (value(pool.in_use) === null) return { figure: "– in use", rest: server.unreachable ? "" : spoken(pool.in_use, "ratio").slice(2) };
  const stale = isStale(server);
  const known = value(pool.headroom) !== null;
  const where = listed([pool.rank, pool.pool === "full" ? "" : pool.pool], " ");
  return { figure: `${dated(pool.in_use, "ratio", stale)} in use`,
    rest: `${where ? `on ${where}, ` : ""}${byRouter(server) ? "by its router, " : ""}headroom ${dated(pool.headroom, unit, stale)}${known ? ` of ${figure(pool.capacity, unit)} ${unit}` : ""}` };
}

/** Why, once: what is unreachable is mostly unknown for that. */
export const reasons = ({ unreachable, reason }) => listed([unreachable && `unreachable: ${unreachable}`, reason !== unreachable && reason], "; ");

/** What to do: what the signs say, else what would make it visible, else nothing made up. */
function next(server, level) {
  const sign = server.signs.find((sign) => sign.next);
  if (sign) return worded(sign.next);
  if (server.unreachable) return ["See whether the server runs and its address is right; the last that was known stands below."];
  const { flag, where } = fleet.gaps.find((gap) => gap.server === server.url && gap.fix.flag)?.fix ?? {};
  if (flag && level === "unknown") return ["To see it, add ", h("code", flag), " to ", where, " ", copyButton(flag)];
  if (level === "calm" || level === "none") return ["Nothing needs doing."];
  return ["Open the server for its signals, their sources and the history."];
}

const parts = { level: h("span"), role: h("span.role"), name: h("a.name"), figure: h("span.figure"), rest: h("span.rest"), why: h("p.why"), next: h("p.next") };
let spokenOf = "";

function nothing(into) {
  into.replaceChildren(h("p", levelMark("unknown"), " ", h("strong", "no server is watched yet")),
    h("p.next", "plimsoll serve looks for engines on this host again and again; others are named when it is started: ",
      h("code", "plimsoll serve http://host:port"), "."));
}

export function drawVerdict() {
  const into = find("verdict");
  const server = worst();
  // The word is the server's that stands beside it.
  const own = server && levelOf(server) !== "none" ? levelOf(server) : fleet.level;
  const level = own in LEVELS ? own : "unknown";
  mark(into, "class", `lv-${level}${server && isStale(server) ? " stale" : ""}`);
  document.title = listed([fleet.lost ? fleet.why ?? "no connection" : server && listed([LEVELS[level], level, level !== "calm" && short(server.url)], " "), "plimsoll"], " – ");
  if (!server) return nothing(into);
  if (!parts.why.isConnected) into.replaceChildren(h("p.worst", parts.level, parts.role, parts.name, parts.figure, parts.rest), parts.why, parts.next);
  const full = fullness(server);
  const seconds = age(server);
  const signs = server.signs.map((sign) => sign.what);
  setLevel(parts.level, level);
  say(parts.role, server.role);
  say(parts.name, short(server.url));
  mark(parts.name, "href", hashOf(server.url));
  say(parts.figure, full.figure);
  say(parts.rest, full.rest);
  say(parts.why, `${listed([reasons(server), ...signs], "; ")}.${isStale(server) && seconds !== null ? ` Last answer ${span(seconds)} ago.` : ""}`);
  const key = [fleet.lost && "was", level, server.role, server.url].join(" ");
  renew(parts.next, [key, server.signs[0]?.next, fleet.gaps.length].join(" "), () => [h("span.label", "next "), ...next(server, levelOf(server))]);
  // Said aloud when the verdict or the server changes, not with every figure.
  if (spokenOf === key) return;
  spokenOf = key;
  say(find("say"), `${key}: ${listed([full.figure, full.rest, reasons(server)], ", ")}`);
}

/** How many servers there are of each verdict: filters. */
export function drawCounts(filter) {
  const counted = {};
  for (const server of fleet.servers.values()) counted[levelOf(server)] = (counted[levelOf(server)] ?? 0) + 1;
  renew(find("counts"), JSON.stringify(counted), () => Object.keys(LEVELS).filter((level) => counted[level] && level !== "none").map((level) =>
    h("button", { click: () => filter(level), "aria-label": `${several(counted[level], "server")} ${level}: show only these` },
      levelMark(level, `${counted[level]} ${level}`))));
}

export function drawWatch() {
  const { watch, fleet: totals } = fleet;
  if (!watch) return;
  const history = watch.history ?? {};
  const kept = { off: "no history is kept", failing: `history is not written: ${history.why ?? "no reason given"}` }[history.state]
    ?? `history since ${history.from ? clock(history.from) : "now"} (${((history.bytes ?? 0) / 1048576).toFixed(0)} of ${((history.limit_bytes ?? 0) / 1048576).toFixed(0)} MiB)`;
  const told = [
    totals && `fullest ${figure(totals.in_use_max, "ratio")}, weighted ${figure(totals.in_use_weighted, "ratio")} in use`,
    `${several(watch.targets, "target")} watched for ${span(serverNow() - watch.since)}`,
    watch.late ? `${watch.late} looked at late` : "", watch.failed ? `${several(watch.failed, "look")} of ${grouped(watch.looks)} failed` : "",
    kept, `times in ${zone()}`, fleet.madeBy, ...(watch.notes ?? []).map((note) => note.text)];
  const footer = find("watch");
  say(footer, listed(told));
  mark(footer, "class", history.state === "failing" ? "trouble" : null);
}

