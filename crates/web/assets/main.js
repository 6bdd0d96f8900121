// The page as a whole: what is drawn with what is heard, and each second.

import { h, find, fromHash, hashOf, mark, say, startTips } from "./dom.js";
import { span } from "./words.js";
import { DOOR, fleet, bindingPool, listen, lossWords, onChange, worst } from "./store.js";
import { drawCounts, drawVerdict, drawWatch } from "./verdict.js";
import { drawFleet, servers, tickFleet } from "./fleet.js";
import { drawGaps } from "./gaps.js";
import { historyView, titleOf } from "./history.js";
import { closePanel, drawPanel, openPanel, opened, reloadPanel } from "./panel.js";
import { startKeys, startTheme } from "./keys.js";

const filter = find("filter");
const chart = historyView(find("history"), { brief: true });
let wasLive = true;
let wasReady = false;
let since = 0;
let beats = 0;

const wanted = () => filter.value.trim().toLowerCase();

function setFilter(text) {
  filter.value = filter.value === text ? "" : text;
  drawFleet({ whole: true, urls: [] }, wanted());
}

/** The chart stays with its pool for a while, lest it flutter between two that are as full. */
function drawChart(urls, events) {
  const server = worst();
  find("history").hidden = !server;
  if (!server) return;
  const shown = chart.of && fleet.servers.get(chart.of.server);
  const pool = bindingPool(server);
  const next = { server: server.url, signal: "in_use", rank: pool?.rank || null, pool: pool?.pool, tier: pool?.tier, title: titleOf(server, pool) };
  if (JSON.stringify(next) === JSON.stringify(chart.of) || !shown || shown.level !== server.level || Date.now() - since > 15_000) {
    since = Date.now();
    chart.show(next);
  }
  const drawn = fleet.servers.get(chart.of.server);
  chart.live(urls.includes(drawn?.url) ? drawn : null, events);
}

function drawLink() {
  const link = find("link");
  const old = `${span(Date.now() / 1000 - fleet.heard)} old`;
  mark(document.body, "class", fleet.lost ? "lost" : null);
  // Read aloud once; the age that counts on stands beside.
  if (fleet.lost) say(find("loss"), `${lossWords()}${fleet.ready ? ": all that stands here is as of then" : ""}`);
  find("lost").hidden = !fleet.lost;
  find("door").hidden = fleet.why !== DOOR;
  say(link, fleet.live && !fleet.lost ? "live" : !fleet.ready ? "connecting" : fleet.lost ? `not live, ${old}`
    : fleet.pace ? `no live stream: asked every ${fleet.pace} s` : `connecting, ${old}`);
  if (fleet.updated && !find("reload")) link.after(h("button", { id: "reload", click: () => location.reload() }, "plimsoll was updated: reload"));
}

onChange((changes) => {
  const { urls } = changes;
  drawLink();
  if (!fleet.ready) return;
  drawVerdict();
  drawCounts(setFilter);
  drawFleet(changes, wanted());
  drawChart(urls, changes.events);
  drawGaps();
  drawWatch();
  drawPanel(changes, false);
  if (fleet.live && !wasLive) {
    // What happened meanwhile is asked for; what nobody saw stays a hole.
    chart.load();
    reloadPanel(false);
  }
  wasLive = fleet.live;
  if (!wasReady) {
    wasReady = true;
    follow();
  }
});

setInterval(() => {
  drawLink();
  if (!fleet.ready || document.hidden) return;
  drawVerdict();
  tickFleet();
  drawWatch();
  chart.live(null, []);
  // Now and then as it was kept, also for pools that were not there before.
  if (++beats % 120 === 0 && !fleet.lost) chart.load();
  drawPanel({ urls: [], events: [] }, true);
}, 1000);

function follow() {
  const { url, range } = fromHash();
  if (fleet.servers.has(url)) openPanel(url, range);
  else if (opened() !== null) find("panel").close();
}

addEventListener("hashchange", follow);
find("panel").addEventListener("close", () => {
  closePanel();
  const hash = hashOf(fromHash().url);
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  // Back to where the server was opened.
  servers().find((link) => link.hash === hash)?.focus({ preventScroll: true });
});

for (const dialog of document.querySelectorAll("dialog")) {
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}

const toggle = startTheme(() => {
  chart.redraw();
  reloadPanel(true);
});
find("theme").addEventListener("click", toggle);
find("help").addEventListener("click", () => find("keys").showModal());
find("door").addEventListener("click", () => location.reload());
filter.addEventListener("input", () => drawFleet({ whole: true, urls: [] }, wanted()));
startKeys(toggle, () => setFilter(filter.value));
startTips();
listen();
