// What the page knows, when it heard it, and whether it still hears.

import { LEVELS, clock, span, value } from "./words.js";

export const fleet = { servers: new Map(), order: [], gaps: [], watch: null, level: "unknown", fleet: null, limits: null,
  madeBy: null, taken: 0, heard: 0, lost: null, why: null, ready: false,
  /** Whether a stream tells; else all is asked for once in so many seconds. */
  live: false, pace: 0 };

let listener = () => {};
let changes = null;

/** Has what changed told to `act`, at most once a frame. */
export function onChange(act) {
  listener = act;
}

function changed({ whole = false, urls = [], events = [] }) {
  if (changes) {
    changes.whole ||= whole;
    changes.urls.push(...urls);
    changes.events.push(...events);
    return;
  }
  changes = { whole, urls: [...urls], events: [...events] };
  // A tab in the background gets no frames, and must not save them up.
  (document.hidden ? (act) => setTimeout(act, 500) : requestAnimationFrame)(() => {
    const now = changes;
    changes = null;
    listener(now);
  });
}

const now = () => Date.now() / 1000;

/** The time by the clock of plimsoll's host, as far as it is known. */
export const serverNow = () => (fleet.heard ? fleet.taken + Math.max(0, now() - fleet.heard) : now());

/** Seconds since a server's newest answer; null where it never answered. */
export function age(server) {
  return server.age_s == null ? null : server.age_s + Math.max(0, now() - server.heard);
}

/** Whether what is known is too old to be shown as the present. */
export function isStale(server) {
  if (fleet.lost) return true;
  // One that is silent may have a router that still speaks of it.
  if (server.unreachable) return !server.pools.some((pool) => /reported|derived|inferred/.test(pool.in_use?.[1]) && value(pool.in_use) !== null);
  const seconds = age(server);
  return seconds !== null && seconds > Math.max(3 * (server.every_s || 5), 3) + fleet.pace;
}

/** Whether it is silent, and what is shown is what its router says now. */
export const byRouter = (server) => Boolean(server.unreachable) && !isStale(server);

/** The verdict as it is shown: a router has no cache, so none; a silent server is not merely unknown. */
export function levelOf(server) {
  if (server.unreachable && server.level === "unknown") return "unreachable";
  return server.role === "router" && !server.pools.length ? "none" : server.level;
}

/** How old what is shown is, where that matters. */
export function oldness(server) {
  const figure = bindingPool(server)?.in_use?.[4];
  const seconds = figure == null ? age(server) : figure + Math.max(0, now() - server.heard);
  return seconds === null ? "never answered" : seconds < 3 && !isStale(server) ? "" : `${span(seconds)} old`;
}

/** The pool that decides: the fullest of those that bind, or of all. */
export function bindingPool(server) {
  const binding = server.pools.filter((pool) => pool.binds);
  const from = binding.length ? binding : server.pools;
  return from.reduce((most, pool) => ((value(pool.in_use) ?? -1) > (value(most?.in_use) ?? -1) || !most ? pool : most), null);
}

/** The worst server: the first that has a cache, or the first of all. */
export function worst() {
  const servers = fleet.order.map((url) => fleet.servers.get(url));
  return servers.find((server) => levelOf(server) !== "none") ?? servers[0] ?? null;
}

/** plimsoll's order, but that lost servers come before tight ones, by how full they were; one that never answered counts as unknown. */
function sorted(urls) {
  const names = Object.keys(LEVELS);
  const rank = (url) => {
    const server = fleet.servers.get(url);
    const level = levelOf(server);
    const use = value(bindingPool(server)?.in_use);
    const never = level === "unreachable" && use === null && server.age_s === null;
    return never ? names.indexOf("unknown") - 0.1 : names.indexOf(level) - (level === "unreachable" ? use / 2 : 0);
  };
  return urls.map((url) => [rank(url), url]).sort(([a], [b]) => a - b).map(([, url]) => url);
}

function keep(server, at) {
  server.heard = at;
  server.pools ??= [];
  for (const pool of server.pools) pool.unit ??= "tokens";
  server.signs ??= [];
  fleet.servers.set(server.url, server);
}

function common(said) {
  // What was said before is not newer for being said again.
  if (said.taken_at !== fleet.taken || !fleet.heard) fleet.heard = now();
  fleet.lost = fleet.why = null;
  fleet.taken = said.taken_at ?? fleet.heard;
  for (const part of ["level", "fleet", "watch", "gaps"]) fleet[part] = said[part] ?? fleet[part];
}

function takeOverview(said) {
  common(said);
  fleet.servers.clear();
  for (const server of said.servers) keep(server, fleet.heard);
  fleet.order = sorted(said.servers.map((server) => server.url));
  fleet.limits = said.limits ?? null;
  fleet.madeBy ??= said.made_by;
  fleet.updated = fleet.madeBy !== said.made_by;
  fleet.ready = true;
  changed({ whole: true, urls: fleet.order });
}

function takeServers(said) {
  if (!fleet.ready) return;
  common(said);
  for (const server of said.servers ?? []) keep(server, fleet.heard);
  for (const url of said.gone ?? []) fleet.servers.delete(url);
  fleet.order = sorted([...new Set([...(said.order ?? fleet.order), ...fleet.servers.keys()])].filter((url) => fleet.servers.has(url)));
  changed({ whole: Boolean(said.order || said.gaps || said.gone?.length), urls: (said.servers ?? []).map((server) => server.url) });
}

export const DOOR = "plimsoll asks for its token";

/** Why nothing is live, and since when. */
export const lossWords = () => `${fleet.why ?? "no connection to plimsoll"} since ${clock(fleet.lost)}`;

/** Nothing is heard any more, or nothing new; what is shown is as of then. */
function lose(why = null, since = fleet.heard) {
  if (fleet.lost && fleet.why === why) return;
  // What was told is as old as it says, not as its telling.
  const late = Math.max(0, fleet.heard - since);
  fleet.heard -= late;
  for (const server of fleet.servers.values()) server.heard -= late;
  fleet.lost ??= fleet.heard || now();
  fleet.why = why;
  changed({ whole: true });
}

/** Listens while the page is seen: a browser has six connections to a host for all its tabs, and a stream keeps one. */
export function listen() {
  let source = null;
  let last = 0;
  let next = null;
  const later = (act, seconds) => {
    clearTimeout(next);
    next = setTimeout(act, 1000 * seconds);
  };
  const close = () => {
    source?.close();
    source = null;
    fleet.live = false;
  };
  const open = () => {
    clearTimeout(next);
    close();
    last = Date.now();
    source = new EventSource("api/v1/stream");
    const on = (name, take) => source.addEventListener(name, (event) => {
      last = Date.now();
      take(JSON.parse(event.data));
    });
    on("overview", (said) => {
      fleet.live = true;
      fleet.pace = 0;
      takeOverview(said);
      check();
    });
    on("servers", takeServers);
    on("happened", (event) => changed({ events: [event] }));
    on("ping", () => {});
    source.onerror = () => {
      fleet.live = false;
      // Where nothing answered the browser tries again; where something said no, it is asked why.
      if (source.readyState === EventSource.CLOSED) look();
      else lose();
    };
  };
  const health = () => fetch("healthz", { signal: AbortSignal.timeout(4000), cache: "no-store" });
  const isWell = (answer) => {
    // By plimsoll's own clock: ours may be another.
    const late = Date.parse(answer.headers.get("date")) / 1000 - fleet.taken;
    if (!answer.ok) lose("plimsoll answers, but its watch stands still", now() - (late || 0));
    return answer.ok;
  };
  /** Without a stream, asks for what it would have told. */
  const look = async () => {
    const again = document.hidden ? look : open;
    close();
    fleet.pace = document.hidden ? 15 : 5;
    later(again, fleet.pace);
    try {
      const [said, answer] = await Promise.all([ask("overview", {}, AbortSignal.timeout(4000)), health()]);
      if (fleet.live) return;
      takeOverview(said);
      isWell(answer);
    } catch ({ status, message }) {
      lose(status === 401 ? DOOR : status ? `plimsoll refuses: ${message}` : null);
      if (!status) later(again, 2);
    }
  };
  /** A line can die without a word, and a watch stand still behind a line that lives: which is it? */
  const check = async () => {
    try {
      if (!isWell(await health()) || Date.now() - last < 60_000) return;
    } catch {
      lose();
    }
    if (source) open();
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return later(look, 5);
    if (fleet.live) return clearTimeout(next);
    fleet.pace = 0;
    changed({ whole: true });
    open();
  });
  (document.hidden ? look : open)();
  setInterval(() => source?.readyState === EventSource.OPEN && Date.now() - last > 20_000 && check(), 5000);
}

/** A document of the API; its error is the server's own sentence where it has one. */
export async function ask(path, parameters, signal) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, held]) => held != null));
  const answer = await fetch(`api/v1/${path}?${query}`, { signal, cache: "no-store" }).catch((error) => {
    throw error.name === "AbortError" ? error : new Error("plimsoll does not answer");
  });
  const said = await answer.json().catch(() => null);
  if (!answer.ok || !said) throw Object.assign(new Error(said?.error ?? `plimsoll answered ${answer.status}`), { status: answer.status });
  return said;
}
