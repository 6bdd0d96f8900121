// The fleet by role: cards for few servers; of many, cards for the worst and a cell for each of the rest.

import { h, hashOf, mark, say, find, tip } from "./dom.js";
import { DASH, LEVELS, ROLES, cause, dated, interval, listed, several, short, span, value } from "./words.js";
import { fleet, age, bindingPool, byRouter, isStale, levelOf, oldness } from "./store.js";
import { poolLine, poolShort, shape } from "./bar.js";
import { setLevel } from "./verdict.js";

/** As many servers of a role get a card each, lest any be below the first screen; of more, only so many of the worst. */
const FEW = 3;
const WORST = 3;
/** As many have room for their names. */
const NAMED = 40;

const SLICE = 25;

const waiting = new Set();
let asked = 0;
const views = new Map();
let drawn = "";

const matches = (server, text) => !text || [server.url, server.role, levelOf(server), server.model, server.unit, server.host, server.engine]
  .some((held) => String(held ?? "").toLowerCase().includes(text));

const noCache = (server) => levelOf(server) === "none";

/** What is known of a server besides how full it is; what it said too long ago is what it was. */
function facts(server) {
  const stale = isStale(server);
  const pool = bindingPool(server);
  const said = (name, reading, unit) => `${name} ${dated(reading, unit, stale)}`;
  const queue = noCache(server) ? [] : [said("running", server.running, "requests"), said("waiting", server.waiting, "requests")];
  return [oldness(server), value(pool?.headroom) !== null && said("headroom", pool.headroom, pool.unit), ...queue,
    value(server.retracted_recent) > 0 && `${said("retracted", server.retracted_recent, "requests")} in 60 s`,
    byRouter(server) && "figures by its router", server.gaps > 0 && several(server.gaps, "gap")];
}

const words = (server) => listed([`${server.role} ${short(server.url)}`, noCache(server) ? "no cache of its own" : levelOf(server),
  isStale(server) && "stale", server.reason, ...facts(server), server.slow], ", ");

function about(server) {
  const seconds = age(server);
  const pools = server.pools.slice(0, 16).map((pool) => poolShort(pool, isStale(server)));
  return listed([words(server), `${seconds === null ? "never answered" : `answered ${span(seconds)} ago`}, asked every ${interval(server.every_s)}`,
    server.unreachable, ...pools, server.pools.length > 16 && `and ${several(server.pools.length - 16, "more pool")}`], "\n");
}

const link = (url, kind) => h("a", { class: kind, href: hashOf(url), tabindex: "-1" });

/** Pools with a line of their own: all, or of very many the fullest. */
const shownPools = ({ pools }) => (pools.length <= 16 ? pools : [...pools].sort((a, b) => (value(b.in_use) ?? -1) - (value(a.in_use) ?? -1)).slice(0, 8));

const kindOf = (kind, server) => listed([kind, `lv-${levelOf(server)}`, isStale(server) ? "stale" : byRouter(server) && "told"], " ");

function card(url) {
  const get = () => fleet.servers.get(url);
  const made = link(url, "card");
  const view = { made };
  view.build = (server) => {
    Object.assign(view, { level: h("span"), use: h("span.use"), what: h("span.what"), foot: h("span.foot"), slow: h("span.slow") });
    view.lines = shownPools(server).map((_, index) => poolLine(() => ({ server: get(), pool: shownPools(get())[index] })));
    view.all = server.pools.length > view.lines.length && picture(4 * server.pools.length);
    made.replaceChildren(h("span.head", view.level, view.use), h("span.who", h("span.name", short(url)), view.what),
      h(server.pools.length > 4 ? "span.pools.many" : "span.pools", view.all && view.all.box, ...view.lines.map(({ line }) => line)), view.foot, view.slow);
  };
  view.draw = () => {
    const server = get();
    if (view.many !== server.pools.length) view.build(server);
    view.many = server.pools.length;
    const level = levelOf(server);
    const stale = isStale(server);
    setLevel(view.level, level);
    const pool = bindingPool(server);
    say(view.use, !pool ? "" : value(pool.in_use) === null ? DASH : `${dated(pool.in_use.slice(0, 2), "ratio", stale)} in use`);
    mark(view.use, "class", `use ${pool?.in_use?.[1] ?? ""}`);
    say(view.what, listed([dense() ? server.role : "", listed([server.engine, server.version], " "), server.model, server.unit]));
    const plain = server.pools.every((pool) => pool.pool === "full");
    const pools = shownPools(server);
    view.lines.forEach((line, index) => line.set(pools[index], stale, plain));
    if (view.all) view.all.draw(server.pools, stale);
    view.tick();
    mark(made, "aria-label", words(server));
  };
  view.tick = () => {
    const server = get();
    // Figures and their age first, lest a long cause push them out.
    const why = server.unreachable ? `unreachable: ${cause(server.unreachable)}` : ["unknown", "none"].includes(levelOf(server)) && server.reason;
    say(view.foot, listed([...facts(server), view.all && `the fullest ${view.lines.length} of ${server.pools.length} pools`, why]));
    say(view.slow, server.slow ? `slow: ${server.slow}` : "");
    mark(made, "class", kindOf("card", server));
  };
  return view;
}

/** Pools as upright bars: paths, which cost the browser far less than an element each. */
function picture(wide) {
  const make = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, held] of Object.entries(attributes)) mark(made, key, held);
    return made;
  };
  const box = make("svg", { class: "columns", viewBox: `0 0 ${wide} 14`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const paths = ["used", "old", "unknown"].map((kind) => make("path", { class: kind }));
  box.append(...paths);
  return { box, draw(pools, stale) {
    const step = wide / Math.max(1, pools.length);
    const lines = ["", "", ""];
    pools.forEach((pool, index) => {
      const { kind, used } = shape(pool, stale);
      const dark = kind === "unknown" || kind === "impossible";
      const high = dark ? 13 : (parseFloat(used) * 14) / 100;
      const left = (index * step + 0.5).toFixed(1);
      lines[dark ? 2 : Number(kind.includes("stale"))] += `M${left} ${(14 - high).toFixed(1)}h${(step - 1).toFixed(1)}V14H${left}z`;
    });
    paths.forEach((path, index) => mark(path, "d", lines[index] || null));
  } };
}

/** Whole percents for a cell; what is not nothing does not become it. */
const whole = (share) => (share > 0 && share < 0.01 ? "<1\u00a0%" : `${Math.floor(100 * share)}\u00a0%`);

/** How full a server is, whether that is over, and who says it where it does not itself. */
function brief(server) {
  const pool = bindingPool(server);
  const use = value(pool?.in_use);
  if (use === null) return pool ? DASH : "";
  return listed([(isStale(server) || pool.in_use[1] === "stale") && "was", byRouter(server) && "by router", whole(use)], " ");
}

function cell(url) {
  const get = () => fleet.servers.get(url);
  const glyph = h("b", { "aria-hidden": "true" });
  const bars = picture(32);
  const use = h("span.use");
  const made = link(url, "cell");
  made.append(glyph, bars.box, h("span.name", h("bdi", short(url))), use);
  const view = { made };
  view.draw = () => {
    const server = get();
    const level = levelOf(server);
    view.stale = isStale(server);
    say(glyph, LEVELS[level] ?? "?");
    mark(glyph, "class", `level lv-${level}`);
    mark(made, "class", kindOf("cell", server));
    bars.draw(server.pools.slice(0, 16), view.stale);
    say(use, brief(server));
    mark(made, "aria-label", words(server));
  };
  view.tick = () => {
    if (view.stale !== isStale(get())) view.draw();
  };
  return view;
}

const dense = () => drawn.includes('"cells"');

function group(name, urls, make, kind, count = urls.length) {
  return h("section", { class: kind, "aria-label": `${name}, ${several(count, "server")}` },
    h("h3", name, " ", h("small", count > 1 ? String(count) : "")),
    h("div", { class: kind }, ...urls.map((url) => {
      const key = `${kind} ${url}`;
      if (!views.has(key)) {
        const view = make(url);
        tip(view.made, () => about(fleet.servers.get(url)));
        views.set(key, view);
      }
      return views.get(key).made;
    })));
}

function plan(text) {
  const shown = fleet.order.map((url) => fleet.servers.get(url)).filter((server) => matches(server, text));
  const of = (servers, role) => servers.filter((server) => (ROLES.includes(server.role) ? server.role : "unknown") === role);
  const kind = ROLES.some((role) => of(shown, role).length > FEW) ? "cells" : "cards";
  const first = kind === "cells" ? shown.filter((server) => !noCache(server)).slice(0, WORST) : [];
  const rest = shown.filter((server) => !first.includes(server));
  const roles = ROLES.map((role) => [role, of(rest, role).map(({ url }) => url), of(shown, role).length]);
  return { first: first.map(({ url }) => url), roles: roles.filter(([, urls]) => urls.length), kind, named: shown.length <= NAMED };
}

export function drawFleet(changes, text) {
  const into = find("roles");
  const held = plan(text);
  const key = JSON.stringify(held);
  if (key !== drawn) {
    drawn = key;
    const focused = into.contains(document.activeElement) ? document.activeElement.hash : null;
    mark(into, "class", held.kind === "cells" ? `dense${held.named ? " named" : ""}` : "few");
    const groups = held.roles.map(([role, urls, count]) => group(role, urls, held.kind === "cells" ? cell : card, held.kind, count));
    if (held.first.length) groups.unshift(group("worst first", held.first, card, "cards"));
    into.replaceChildren(...groups, text && !groups.length ? h("p.wait", "No server matches the filter.") : "");
    for (const [name] of views) if (!fleet.servers.has(name.slice(name.indexOf(" ") + 1))) views.delete(name);
    changes = { urls: fleet.order };
    const links = servers();
    const again = links.find(({ hash }) => hash === focused);
    (again ?? links[0])?.setAttribute("tabindex", "0");
    again?.focus({ preventScroll: true });
  }
  for (const url of changes.whole ? fleet.order : changes.urls) waiting.add(url);
  slice();
}

/** Draws a few of those that wait, and the rest in the frames after: of hundreds, no frame is missed. */
function slice() {
  cancelAnimationFrame(asked);
  for (const url of [...waiting].slice(0, SLICE)) {
    waiting.delete(url);
    for (const kind of ["cards", "cells"]) {
      const view = fleet.servers.has(url) && views.get(`${kind} ${url}`);
      if (view && view.made.isConnected) view.draw();
    }
  }
  if (waiting.size) asked = requestAnimationFrame(slice);
}

export function tickFleet() {
  for (const view of views.values()) if (view.made.isConnected) view.tick();
}

export const servers = () => [...find("roles").querySelectorAll("a")];
