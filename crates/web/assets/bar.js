// A pool as a bar: used solid, evictable striped, available empty, unknown hatched.

import { h, mark, say, tip } from "./dom.js";
import { DASH, figure, listed, spoken, value } from "./words.js";
import { isStale } from "./store.js";

const part = (amount, whole) => `${Math.max(0, Math.min(100, (100 * amount) / whole))}%`;

export function shape(pool, stale) {
  const capacity = value(pool.capacity);
  const used = value(pool.used);
  const evictable = value(pool.evictable);
  const share = value(pool.in_use) ?? (capacity && used !== null ? used / capacity : null);
  const states = [pool.in_use?.[1], pool.used?.[1]];
  if (share === null) return { kind: states.includes("impossible") ? "impossible" : "unknown", used: "0%", evictable: "0%" };
  const old = stale || states.includes("stale") ? " stale" : "";
  // Without capacity, evictable and available together are all that is known of what is not used.
  const told = capacity && evictable !== null;
  return { kind: (told ? "told" : "apart") + old, used: part(share, 1), evictable: told ? part(evictable, capacity) : "0%" };
}

function makeBar() {
  return h("span.bar", { "aria-hidden": "true" }, h("i.u"), h("i.e"));
}

function setBar(bar, pool, stale) {
  const { kind, used, evictable } = shape(pool, stale);
  mark(bar, "class", `bar ${kind}`);
  const [solid, striped] = bar.children;
  if (solid.style.width !== used) solid.style.width = used;
  if (striped.style.width !== evictable) striped.style.width = evictable;
}

export const poolName = (pool, plain) => listed([pool.rank, pool.pool === "full" && plain ? "" : pool.pool, pool.tier === "device" ? "" : pool.tier], " ");

const aged = (reading, stale) => (stale && ["reported", "derived"].includes(reading?.[1]) ? [reading[0], "stale", reading[2]] : reading);

/** A pool in a line; where its fullness is not known, with a reason that one of its numbers gives. */
export function poolShort(pool, stale) {
  const why = value(pool.in_use) === null && !pool.in_use?.[3] ? [pool.used?.[3], pool.capacity?.[3]].find(Boolean) : null;
  const use = why ? [null, pool.in_use?.[1], null, why] : aged(pool.in_use, stale);
  return `${poolName(pool) || "pool"}: ${spoken(use, "ratio")} in use, headroom ${figure(pool.headroom, pool.unit)}`;
}

function poolWords(pool, stale) {
  const unit = pool.unit;
  const say = (reading, of = unit) => spoken(aged(reading, stale), of);
  return [
    `${poolName(pool) || "pool"}${pool.binds ? ", the pool that binds" : ""}`,
    `in use ${say(pool.in_use, "ratio")}`,
    `used ${say(pool.used)}, evictable ${say(pool.evictable)}, available ${say(pool.available)}`,
    `headroom ${say(pool.headroom)} of ${say(pool.capacity)} ${unit}`,
    `occupied ${say(pool.occupied, "ratio")}`,
  ].join("\n");
}

function percentOf(pool) {
  const state = pool.in_use?.[1];
  if (value(pool.in_use) === null) return state === "impossible" ? `${DASH} impossible` : DASH;
  return figure(pool.in_use, "ratio");
}

export function poolLine(get) {
  const name = h("span.pn");
  const bar = makeBar();
  const use = h("span.pu");
  const line = h("span.pool", name, bar, use);
  tip(line, () => {
    const { server, pool } = get();
    return pool ? poolWords(pool, isStale(server)) : "";
  });
  return { line, set(pool, stale, plain) {
    say(name, poolName(pool, plain));
    setBar(bar, pool, stale);
    say(use, percentOf(pool));
    mark(use, "class", `pu ${stale ? "stale" : pool.in_use?.[1] ?? ""}`);
    mark(line, "class", pool.binds ? "pool binds" : "pool");
  } };
}
