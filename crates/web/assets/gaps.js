// What the fleet does not tell, and exactly what makes it: the same gap of many servers is one entry.

import { h, say, find, copyButton } from "./dom.js";
import { several, short } from "./words.js";
import { fleet } from "./store.js";

/** One gap with its fix; `urls` are the servers that have it. */
export function gapEntry(gap, urls) {
  const { fix } = gap;
  const row = (name, held) => held && h("div", h("dt", name), h("dd", ...[held].flat()));
  const servers = urls.length === 1 ? short(urls[0] ?? "the fleet") : several(urls.length, "server");
  return h("details.gap",
    h("summary", h("span.gap-what", gap.what), h("span.gap-of", servers),
      h("span.gap-fix", "→ ", ...(fix.flag ? [h("code", fix.flag), copyButton(fix.flag, fix.flag)] : [fix.where]))),
    h("dl",
      row("seen", gap.evidence), row("add", fix.flag && h("code", fix.flag)), row("to", fix.flag && fix.where),
      row("then", fix.series?.length && fix.series.join(" ")), row("price", gap.price), row("meanwhile", gap.meanwhile),
      row("servers", urls.length > 1 && urls.map(short).join(" "))));
}

function grouped(gaps) {
  const groups = new Map();
  for (const gap of gaps) {
    const key = JSON.stringify([gap.id, gap.what, gap.fix.flag, gap.fix.flag ? null : gap.fix.where]);
    if (!groups.has(key)) groups.set(key, { gap, urls: [] });
    groups.get(key).urls.push(gap.server ?? "");
  }
  // What a flag mends comes first.
  return [...groups.values()].sort((a, b) => !a.gap.fix.flag - !b.gap.fix.flag);
}

let drawn = "";
let seen = null;

/** The list, made anew only where a gap came, went or changed; open ones stay open. */
export function drawGaps() {
  if (fleet.gaps === seen) return;
  seen = fleet.gaps;
  const groups = grouped(fleet.gaps);
  const key = JSON.stringify(groups.map(({ gap, urls }) => [gap.id, gap.what, gap.fix, urls]));
  if (key === drawn) return;
  drawn = key;
  const into = find("gap-list");
  const open = new Set([...into.querySelectorAll("details[open] .gap-what")].map(({ textContent }) => textContent));
  into.replaceChildren(...groups.map(({ gap, urls }) => {
    const entry = gapEntry(gap, urls);
    entry.open = open.has(gap.what);
    return entry;
  }), groups.length ? "" : h("p.wait", "Nothing that plimsoll wants to know is hidden."));
  say(find("gap-count"), fleet.gaps.length ? `${several(fleet.gaps.length, "gap")} on ${several(new Set(fleet.gaps.map(({ server }) => server)).size, "server")}` : "none");
}
