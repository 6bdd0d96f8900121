// The history of one server: windows, zoom, events, live; and in words, for those who do not see a chart.

import { h, mark, renew, say } from "./dom.js";
import { amount, clock, short, span } from "./words.js";
import { fleet, age, ask, serverNow } from "./store.js";
import { poolName } from "./bar.js";
import { append, rows, summary, trim } from "./series.js";
import { LINES, chart, readout } from "./chart.js";

const WINDOWS = [["15m", 900, "15 min"], ["1h", 3600, "1 h"], ["6h", 21600, "6 h"], ["24h", 86400, "24 h"], ["7d", 604800, "7 days"], ["all", 0, "all"]];
const MOST = 8;
const nothing = () => ({ series: [], events: [], notes: [] });

const isOff = () => fleet.watch?.history?.state === "off";
const began = () => fleet.watch?.history?.from ?? fleet.watch?.since ?? serverNow();

/** The window until one is chosen: in an hour a history of minutes would not be seen. */
function usual() {
  const [window, seconds] = WINDOWS[serverNow() - began() < 900 ? 0 : 1];
  return { window, seconds, usual: true };
}

/** A view in `host`. `of` is what to show: { server, signal, rank, pool, tier, title }. */
export function historyView(host, { group, brief, follower, onRange } = {}) {
  let of = null;
  /** What was kept and what came since; null until it was asked for. */
  let held = null;
  let failed = null;
  let range = usual();
  let running = null;
  let again = null;
  let drawn = null;
  let painted = 0;
  const view = { lines: [], from: 0, to: 1, begin: 0, events: [], unit: "ratio", limits: [] };
  const title = h("h2");
  const windows = h("div.windows", { role: "group", "aria-label": "Window of time" });
  const box = h("div.chart", { tabindex: "0", role: "group" });
  const now = h("p.readout");
  const words = h("p.summary");
  const list = h("ol.events", { "aria-label": "Events, newest first" });
  host.replaceChildren(h("div.top", title, windows), box, now, words, list);
  const zoom = (from, to) => to - from >= 10 && set({ from, to });
  const plot = chart(box, view, { group, onZoom: zoom, onReset: () => set(range.back ?? range), onCursor: (at) => {
    drawn = at;
    say(now, readout(view, at));
  } });

  for (const [key, seconds, name] of WINDOWS) {
    windows.append(h("button", { "data-window": key, click: () => set({ window: key, seconds }) }, name));
  }
  const middle = (by) => {
    const [from, to] = [view.from, view.to];
    const half = ((to - from) * by) / 2;
    zoom((from + to) / 2 - half, Math.min((from + to) / 2 + half, serverNow()));
  };
  windows.append(
    h("button", { "aria-label": "Zoom in", click: () => middle(0.5) }, "+"),
    h("button", { "aria-label": "Zoom out", click: () => middle(2) }, "−"));
  box.addEventListener("keydown", (event) => {
    const step = (view.to - view.from) / 60;
    const move = { ArrowLeft: -step, ArrowRight: step }[event.key];
    if (move) {
      plot.point(Math.max(view.from, Math.min(view.to, (drawn ?? view.to) + move)));
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === "+") middle(0.5);
    else if (event.key === "-") middle(2);
    else if (event.key === "0") set(range.back ?? range);
  });

  function set(next) {
    range = next.from ? { ...next, back: range.from ? range.back : range } : next;
    follower?.set(range);
    onRange?.(range);
    load();
  }

  function bounds() {
    if (range.from) return [range.from, range.to];
    const to = serverNow();
    if (range.window === "all") return [Math.min(began(), to - 60), to];
    return [to - range.seconds, to];
  }

  async function load() {
    if (!of) return;
    running?.abort();
    clearTimeout(again);
    running = new AbortController();
    const mine = running;
    if (range.usual) range = usual();
    // There is none to ask for: the chart begins with the page.
    if (isOff()) {
      held ??= nothing();
      return draw();
    }
    const [from, to] = bounds();
    const open = !range.from && range.window !== "all";
    const asked = { server: of.server, ...(open ? { window: range.window } : { from, to }) };
    const points = Math.max(60, Math.min(600, Math.round(box.clientWidth / 2) || 300));
    mark(box, "aria-busy", "true");
    try {
      const [said, events] = await Promise.all([ask("history", { ...asked, signal: of.signal, rank: of.rank, pool: of.pool, tier: of.tier, points }, mine.signal),
        ask("events", asked, mine.signal)]);
      if (mine !== running) return;
      held = { series: said.series, events: events.events, notes: [...said.notes, ...events.notes] };
      failed = null;
    } catch (error) {
      if (error.name === "AbortError") return;
      // What was drawn before is not less true for it.
      held ??= nothing();
      failed = error.message;
      again = setTimeout(load, 10_000);
    }
    mark(box, "aria-busy", null);
    draw();
  }

  const isOf = (pool, { rank, pool: name, tier }) => pool.pool === name && pool.tier === tier && pool.rank === (rank ?? "");

  /** Where nothing was kept yet, the line begins with what is told from here on. */
  const begin = ({ pools }) => pools.filter((pool) => of.signal in pool && (!of.pool || isOf(pool, of)))
    .map(({ rank, pool, tier, unit }) => ({ rank, pool, tier, title: of.signal.replace("_", " "), unit: /in_use|occupied/.test(of.signal) ? "ratio" : unit }));

  function draw() {
    const [from, to] = bounds();
    Object.assign(view, { from, to });
    const { series: kept, events } = held ?? nothing();
    const made = kept.map((series) => ({ name: poolName(series, true) || series.title, unit: series.unit, ...rows(series, to) }));
    const lastOf = (line) => line.last.findLast((held) => held !== null) ?? -1;
    if (made.length > MOST) made.sort((a, b) => lastOf(b) - lastOf(a));
    view.lines = made.slice(0, MOST);
    view.unit = made[0]?.unit ?? "ratio";
    // Without a history, what there is begins with the page.
    view.begin = isOff() ? made[0]?.at[0] ?? to : began();
    view.limits = fleet.limits && of.signal === "in_use" ? Object.values(fleet.limits) : [];
    view.events = events.filter((event) => event.at >= from && event.at <= to);
    plot.draw();
    painted = Date.now();
    tell(made.length);
  }

  function tell(many) {
    say(title, of.title);
    for (const button of windows.children) if (button.dataset.window) mark(button, "aria-pressed", String(!range.from && button.dataset.window === range.window));
    const told = view.lines.map((line) => {
      const sum = summary(line, view.from, view.to);
      const name = view.lines.length > 1 || line.name !== of.signal ? `${line.name}: ` : "";
      if (sum.most === null) return `${name}nothing known in this time`;
      const latest = sum.latest === null ? "" : `${amount(sum.latest, line.unit)} at ${clock(sum.at)}, `;
      const dark = sum.dark >= 1 ? `, not known for ${span(sum.dark)}` : "";
      return `${name}${latest}lowest ${amount(sum.least, line.unit)}, highest ${amount(sum.most, line.unit)}${dark}`;
    });
    const off = isOff();
    const shown = view.lines.length ? told.slice(0, brief ? 1 : MOST) : [held ? "Nothing was kept in this time." : "…"];
    const more = [off && "No history is kept: this was seen since the page was opened.", failed && `The history could not be read just now: ${failed}.`,
      many > MOST && `the fullest ${MOST} of ${many}`, ...(held?.notes ?? []).map((note) => note.text)].filter(Boolean);
    const lines = [...shown, ...more];
    renew(words, lines.join(), () => lines.map((text, index) => {
      // Lines of several are told apart by colour and dash, here as in the chart.
      const key = shown.length > 1 && index < shown.length ? h("i", { class: `dash${index % 4}` }) : "";
      if (key) key.style.borderTopColor = `var(--${LINES[index]})`;
      return h("span", key, text);
    }));
    mark(box, "aria-label", `Chart, ${of.title}. ${told[0] ?? ""}. Left and right move the cursor, plus and minus zoom, 0 goes back.`);
    const events = view.events.slice().sort((a, b) => b.at - a.at).slice(0, brief ? 6 : 100);
    renew(list, JSON.stringify(events), () => [...events.map((event) => h("li", h("button", { focus: () => plot.point(event.at), click: () => plot.point(event.at) },
      h("time", clock(event.at)), h("b", ` ${event.kind} `), event.text))), !events.length && h("li.wait", "No events in this time.")]);
  }

  return {
    show(next) {
      if (of && JSON.stringify(of) === JSON.stringify(next)) return;
      of = next;
      // What is held is another's.
      held = failed = null;
      draw();
      load();
    },
    load,
    set,
    /** Draws what was just looked at, or only the time that has passed. */
    live(server, events) {
      if (!of || !held || range.from) return;
      if (!server && !events.length && Date.now() - painted < 900) return;
      const to = serverNow();
      if (server && server.url === of.server && !fleet.lost && age(server) !== null) {
        const at = fleet.taken - server.age_s;
        if (!held.series.length) held.series = begin(server);
        for (const series of held.series) {
          // A frame's figure of requests is the whole server's: those of ranks come with the next loading.
          const reading = series.pool ? server.pools.find((pool) => isOf(pool, series))?.[of.signal] : series.rank === "" ? server[of.signal] : undefined;
          if (reading === undefined) continue;
          append(series, at, reading, 0.4 * (server.every_s || 1));
          trim(series, to - 1.2 * (view.to - view.from));
        }
      }
      held.events.push(...events.filter((event) => event.server === of.server || event.server === ""));
      draw();
    },
    redraw: () => plot.draw(true),
    stop() {
      running?.abort();
      clearTimeout(again);
      plot.stop();
      of = null;
    },
    get of() {
      return of;
    },
  };
}

export const titleOf = (server, pool) => `In use: ${server.role} ${short(server.url)}${pool?.rank ? ` ${pool.rank}` : ""}${pool ? `, ${pool.pool} pool` : ""}`;
