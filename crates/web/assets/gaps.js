// What the fleet does not tell, and exactly what makes it: what one fix mends on many servers is one entry.

import { h, find, renew, say, copyButton } from "./dom.js";
import { several, short } from "./words.js";
import { fleet } from "./store.js";

/** Entries for gaps, with a fix each; what a flag mends comes first. */
export function gapEntries(gaps) {
  const groups = new Map();
  for (const gap of gaps) {
    const key = gap.fix.flag ?? JSON.stringify([gap.id, gap.what, gap.fix.where]);
    groups.set(key, [...(groups.get(key) ?? []), gap]);
  }
  return [...groups.values()].sort(([a], [b]) => !a.fix.flag - !b.fix.flag).map(entry);
}

function entry(gaps) {
  const { flag, where } = gaps[0].fix;
  const each = (get) => [...new Set(gaps.flatMap(get).filter(Boolean))];
  const row = (name, held) => held.length > 0 && h("div", h("dt", name), h("dd", ...held.map((text) => h("p", text))));
  const urls = each(({ server }) => server);
  const whats = each(({ what }) => what);
  const more = whats.length > 1 && h("span.gap-of", `and ${whats.length - 1} more`);
  return h("details.gap",
    h("summary", h("span.gap-what", whats[0]), more, h("span.gap-of", urls.length > 1 ? several(urls.length, "server") : short(urls[0] ?? "the fleet")),
      h("span.gap-fix", "→ ", ...(flag ? [h("code", flag), copyButton(flag)] : [where]))),
    h("dl", row("shows", whats.slice(1)), row("seen", each(({ evidence }) => evidence)),
      row("add", flag ? [flag] : []), row("to", flag ? each(({ server, fix }) => (urls.length > 1 ? `${short(server)}: ${fix.where}` : fix.where)) : []),
      row("then", [each(({ fix }) => fix.series ?? []).join(" ")].filter(Boolean)), row("price", each(({ price }) => price)),
      row("meanwhile", each(({ meanwhile }) => meanwhile)), row("servers", flag || urls.length < 2 ? [] : urls.map(short))));
}

let seen = null;

/** The list, made anew only where a gap came, went or changed; open ones stay open. */
export function drawGaps() {
  if (fleet.gaps === seen) return;
  seen = fleet.gaps;
  const into = find("gap-list");
  const what = (made) => made.querySelector(".gap-what").textContent;
  const open = new Set([...into.querySelectorAll("details[open]")].map(what));
  renew(into, JSON.stringify(seen), () => {
    const made = gapEntries(seen);
    for (const one of made) one.open = open.has(what(one));
    return made.length ? made : [h("p.wait", "Nothing that plimsoll wants to know is hidden.")];
  });
  say(find("gap-count"), seen.length ? `${several(seen.length, "gap")} on ${several(new Set(seen.map(({ server }) => server)).size, "server")}` : "none");
}
