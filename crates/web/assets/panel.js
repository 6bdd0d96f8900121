// One server: its history, and every signal with value, state, age and source.

import { h, hashOf, mark, renew, say, find, worded } from "./dom.js";
import { DASH, figure, grouped, interval, listed, short, span, stateWord } from "./words.js";
import { fleet, age, ask, isStale, levelOf, lossWords } from "./store.js";
import { historyView } from "./history.js";
import { gapEntries } from "./gaps.js";
import { fullness, reasons, setLevel } from "./verdict.js";

const POOL = ["in_use", "occupied", "used", "evictable", "available", "headroom", "capacity"];
const plainName = (name) => name.replace(/_/g, " ");

let open = null;

export const opened = () => open?.url ?? null;

/** Rows of every signal of a server of `plimsoll.status/1`. */
function* signals(server) {
  for (const rank of server.ranks ?? []) {
    const parts = Object.entries(rank.rank).filter(([, n]) => n !== null && (n > 0 || server.ranks.length > 1)).map(([kind, n]) => `${kind}${n}`);
    const name = parts.filter((part) => server.ranks.length === 1 || !/^(tp|pp)0$/.test(part)).join(" ");
    for (const pool of rank.pools) {
      const where = listed([name, pool.pool, pool.tier === "device" ? "" : pool.tier], " ");
      const rest = Object.keys(pool).filter((key) => pool[key]?.state && !POOL.includes(key));
      for (const key of [...POOL, ...rest]) if (pool[key]?.state) yield [where, key, pool[key]];
    }
    for (const [key, reading] of Object.entries(rank)) if (reading?.state) yield [name || "server", key, reading];
  }
  for (const view of server.router_view ?? []) {
    for (const [key, reading] of Object.entries(view)) {
      if (reading?.state) yield [`its view of ${short(view.worker)}`, key, reading];
    }
  }
}

/** The table, and its ages, which go on counting. */
function table(server) {
  const body = h("tbody");
  const ages = [];
  for (const [where, key, reading] of signals(server)) {
    const state = fleet.lost && reading.value !== null ? "stale" : reading.state;
    const old = h("td.num", DASH);
    if (reading.age_s !== null) ages.push([old, reading.age_s]);
    const from = listed([reading.source, reading.reason, reading.inputs.length && `from ${reading.inputs.join(", ")}`], "; ");
    body.append(h("tr", { class: `st-${state}` }, h("td", where), h("th", { scope: "row" }, plainName(key)), h("td.num", figure([reading.value, reading.state, reading.precision], reading.unit)),
      h("td", reading.unit === "ratio" ? "" : plainName(reading.unit)), h("td", stateWord(state)), old, h("td.from", from)));
  }
  const heads = ["where", "signal", "value", "unit", "state", "age", "source, or why not"];
  return { ages, made: h("table", h("thead", h("tr", ...heads.map((head) => h("th", { scope: "col" }, head)))), body) };
}

function remarks(server) {
  const signs = (server.signs ?? []).map((sign) => h("div.sign", h("b", sign.what), h("p", sign.evidence.join("; ")), h("p", h("span.label", "next "), ...worded(sign.next))));
  const notes = (server.notes ?? []).map((note) => h("p.note", note.text));
  const gpus = (server.gpus ?? []).map((gpu) => `GPU ${gpu.index}: ${grouped(gpu.used_mib)} of ${grouped(gpu.total_mib)} MiB`);
  const place = listed([server.numa_nodes?.length && `NUMA node ${server.numa_nodes.join(", ")}`, ...gpus]);
  return [...signs, ...notes, place && h("p.note", place)];
}

async function load(view) {
  if (view.busy || view !== open) return;
  view.busy = true;
  try {
    const said = await ask("snapshot", { server: view.url });
    const server = said.servers.find(({ url }) => url === view.url);
    if (view !== open) return;
    if (!server) throw new Error("plimsoll has no reading of this server");
    view.told = server;
    view.taken = Date.now() / 1000;
    view.remarks.replaceChildren(...remarks(server).filter(Boolean));
    const offered = [...new Set([...signals(server)].filter(([where]) => !where.startsWith("its view")).map(([, key]) => key))];
    const key = offered.join();
    view.select.parentElement.hidden = !key;
    renew(view.select, key, () => offered.map((name) => h("option", { value: name, selected: name === view.signal }, plainName(name))));
    renew(view.gaps, JSON.stringify(server.gaps), () => gapEntries(server.gaps));
    say(view.failed, "");
  } catch (error) {
    say(view.failed, `The signals could not be read: ${error.message}`);
  }
  view.busy = false;
  drawTable(view);
}

function drawTable(view) {
  if (!view.told) return;
  const key = JSON.stringify([view.told, fleet.lost]);
  if (view.key !== key) {
    const { made, ages } = table(view.told);
    view.key = key;
    view.ages = ages;
    view.table.replaceChildren(made);
  }
  const late = Math.max(0, Date.now() / 1000 - view.taken);
  for (const [cell, seconds] of view.ages) say(cell, span(seconds + late));
}

function drawHead(view) {
  const server = fleet.servers.get(view.url);
  if (!server) return say(view.state, "plimsoll does not watch this server any more.");
  const seconds = age(server);
  const full = fullness(server);
  setLevel(view.level, levelOf(server));
  say(view.use, listed([full.figure, full.rest], ", "));
  say(view.state, listed([fleet.lost && `Not live: ${lossWords()}.`, `${reasons(server)}.`, seconds === null ? "It never answered." : `Answered ${span(seconds)} ago, asked every ${interval(server.every_s)}.`,
    server.slow && `Slow: ${server.slow}.`], " "));
  say(view.what, listed([server.engine, server.version, server.model, server.unit, server.host]));
  mark(find("panel"), "class", isStale(server) ? "stale" : null);
}

function ofSignal(view) {
  const server = fleet.servers.get(view.url);
  return { server: view.url, signal: view.signal, title: `${plainName(view.signal)}: ${server?.role ?? ""} ${short(view.url)}` };
}

/** Opens a server's panel, or shows another server or another stretch of time in it. */
export function openPanel(url, range = {}) {
  if (open?.url === url) return range.from && open.main.set(range);
  const dialog = find("panel");
  closePanel();
  const view = { url, signal: fleet.servers.get(url)?.pools.length ? "in_use" : "running", told: null };
  open = view;
  Object.assign(view, {
    level: h("span"), use: h("span.figure"), what: h("p.what"), state: h("p.why"), failed: h("p.trouble", { role: "status" }), remarks: h("div.remarks"), gaps: h("div"),
    select: h("select", { "aria-label": "Signal in the chart", change: () => {
      view.signal = view.select.value;
      view.main.show(ofSignal(view));
    } }),
    table: h("div.scroll", { tabindex: "0", role: "region", "aria-label": "All signals" }),
  });
  const first = h("section.hist");
  const second = h("section.hist.low");
  const server = fleet.servers.get(url);
  dialog.replaceChildren(
    h("div.top", h("h2", { id: "panel-name", tabindex: "-1" }, `${server?.role ?? "server"} ${short(url)}`), view.level, view.use,
      h("button", { "aria-label": "Close", click: () => dialog.close() }, "✕")),
    view.what, view.state, view.remarks, h("label.pick", { hidden: true }, "signal ", view.select), first, second,
    view.gaps, view.failed, h("h3", "All signals"), view.table);
  if (!dialog.open) dialog.showModal();
  find("panel-name").focus();
  dialog.scrollTop = 0;
  view.low = historyView(second, { group: "panel", brief: true });
  view.main = historyView(first, { group: "panel", follower: view.low, onRange: (chosen) => history.replaceState(null, "", hashOf(url, chosen)) });
  if (range.from) view.main.set(range);
  view.main.show(ofSignal(view));
  view.low.show({ server: url, signal: "waiting", title: "Requests waiting" });
  drawHead(view);
  load(view);
}

export function closePanel() {
  open?.main.stop();
  open?.low.stop();
  open = null;
}

let beat = 0;

/** Called with frames and, with `tick`, each second. */
export function drawPanel(changes, tick) {
  const view = open;
  if (!view) return;
  const server = changes.urls.includes(view.url) ? fleet.servers.get(view.url) : null;
  drawHead(view);
  if (server || changes.events.length || tick) {
    view.main.live(server, changes.events);
    view.low.live(server, []);
  }
  if (!tick) return fleet.lost && drawTable(view);
  beat += 1;
  if (beat % 5 === 0 && !fleet.lost) load(view);
  else drawTable(view);
  if (beat % 20 === 0 && !fleet.lost) view.low.load();
  if (beat % 60 === 0 && !fleet.lost) view.main.load();
}

/** After the connection came back, or the colours changed. */
export function reloadPanel(colours) {
  for (const part of [open?.main, open?.low]) colours ? part?.redraw() : part?.load();
  if (open && !colours) load(open);
}
