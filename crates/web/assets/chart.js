// One chart on a canvas: lines with the band between least and most, hatched holes, marks of events, a cursor.

import { h } from "./dom.js";
import { amount, clock, local, several, zone } from "./words.js";

// The dash is a second sign beside the colour.
const DASHES = [[], [8, 3], [3, 3], [10, 3, 2, 3]];
/** The colours of lines, of the page's own; the first is what is read. */
export const LINES = ["used", "strained", "calm", "event", "text", "evict", "tight", "soft"];
const INKS = ["line", "edge", ...LINES];
/** Where the drawing begins; the axes stand beside it. */
const LEFT = 50;
const TOP = 8;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000];

const groups = new Map();

function inks() {
  const probe = document.body.appendChild(h("i"));
  const made = {};
  for (const name of INKS) {
    probe.style.color = `var(--${name})`;
    made[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return made;
}

function hatch(line) {
  const box = h("canvas", { width: 8, height: 8 });
  const ink = box.getContext("2d");
  ink.strokeStyle = line;
  ink.beginPath();
  for (const x of [-8, 0, 8]) ink.moveTo(x, 8), ink.lineTo(x + 8, 0);
  ink.stroke();
  return ink.createPattern(box, "repeat");
}

/** A step of 1, 2 or 5 times a power of ten, of which about `few` go into `most`. */
function niceStep(most, few) {
  const raw = most / few;
  const scale = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].find((step) => step * scale >= raw) * scale;
}

/** Round local times for the axis, with what stands there. */
function* times(from, to, few) {
  const step = STEPS.find((step) => (to - from) / step <= few) ?? STEPS.at(-1);
  const zone_s = new Date(from * 1000).getTimezoneOffset() * 60;
  for (let at = Math.ceil((from - zone_s) / step) * step + zone_s; at <= to; at += step) {
    const [day, time] = [local(at).slice(5, 10), local(at).slice(11, step < 60 ? 19 : 16)];
    yield [at, step >= 86400 || /^00:00(:00)?$/.test(time) ? day : time];
  }
}

/** A chart of `view`: lines, from, to, events, unit, limits. Charts of a group share the cursor. */
export function chart(host, view, { group, onZoom, onReset, onCursor }) {
  const canvas = h("canvas", {
    "aria-hidden": "true",
    pointerdown: (event) => {
      if (event.button || event.pointerType === "touch") return point(timeAt(event.offsetX));
      drag = event.offsetX;
      canvas.setPointerCapture(event.pointerId);
    },
    pointermove: (event) => {
      point(timeAt(event.offsetX));
      if (drag === null) return;
      select.hidden = Math.abs(event.offsetX - drag) < 4;
      select.style.left = `${Math.min(drag, event.offsetX)}px`;
      select.style.width = `${Math.abs(event.offsetX - drag)}px`;
    },
    pointerup: (event) => {
      const ends = drag === null ? [0, 0] : [drag, event.offsetX].sort((a, b) => a - b);
      drag = null;
      select.hidden = true;
      if (ends[1] - ends[0] >= 4) onZoom(timeAt(ends[0]), timeAt(ends[1]));
    },
    pointerleave: () => drag === null && point(null),
    dblclick: onReset,
  });
  const cursor = h("i.cursor", { hidden: true });
  const select = h("i.select", { hidden: true });
  const ctx = canvas.getContext("2d");
  let [wide, high, right, bottom, most, ink, pattern, drag] = [0, 0, 0, 0, 1, null, null, null];
  host.replaceChildren(canvas, cursor, select);

  const across = (at) => LEFT + ((at - view.from) / (view.to - view.from)) * (right - LEFT);
  const timeAt = (x) => view.from + (Math.max(0, Math.min(1, (x - LEFT) / (right - LEFT)))) * (view.to - view.from);
  const up = (held) => bottom - (held / most) * (bottom - TOP);

  function rule(x1, y1, x2, y2) {
    ctx.beginPath();
    ctx.moveTo(x1, y1);
    ctx.lineTo(x2, y2);
    ctx.stroke();
  }

  function axes() {
    ctx.lineWidth = 1;
    ctx.font = "11px system-ui, sans-serif";
    ctx.fillStyle = ink.soft;
    ctx.strokeStyle = ink.line;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    const few = Math.max(2, Math.floor(high / 34));
    const step = view.unit === "ratio" ? (few > 4 ? 0.2 : few > 2 ? 0.25 : 0.5) : Math.max(view.unit === "requests" ? 1 : 0, niceStep(most, few));
    for (let held = 0; held <= most * 1.0001; held += step) {
      const y = Math.round(up(held)) + 0.5;
      rule(LEFT, y, right, y);
      ctx.fillText(view.unit === "ratio" ? `${Math.round(held * 100)} %` : amount(held, view.unit), LEFT - 6, y);
    }
    ctx.fillText(zone(view.to), LEFT - 12, bottom + 11);
    ctx.textAlign = "center";
    for (const [at, text] of times(view.from, view.to, Math.max(2, (wide - LEFT) / 64))) {
      const x = Math.round(across(at)) + 0.5;
      rule(x, TOP, x, bottom);
      if (x > LEFT + 8 && x < right - 12) ctx.fillText(text, x, bottom + 11);
    }
  }

  function holes() {
    const [first] = view.lines;
    const start = first?.at[0] ?? view.to;
    ctx.fillStyle = pattern;
    for (const hole of [{ from: Math.max(view.from, view.begin), to: start }, ...(first?.holes ?? [])]) {
      const left = Math.max(LEFT, across(hole.from));
      const end = Math.min(right, across(hole.to));
      ctx.globalAlpha = 0.4 + 0.6 * (hole.share ?? 1);
      if (end > left) ctx.fillRect(left, TOP, end - left, bottom - TOP);
    }
    ctx.globalAlpha = 1;
  }

  /** Before the history begins nothing is unknown: there is nothing. */
  function beginning() {
    if (view.begin <= view.from || view.begin >= view.to) return;
    const x = Math.round(across(view.begin)) + 0.5;
    ctx.strokeStyle = ctx.fillStyle = ink.soft;
    rule(x, TOP, x, bottom);
    ctx.textAlign = "right";
    if (x - LEFT > 110) ctx.fillText(`begins ${clock(view.begin)}`, x - 6, bottom - 9);
  }

  function line(made, index) {
    ctx.strokeStyle = ctx.fillStyle = ink[LINES[index % 8]];
    const count = made.at.length;
    const many = view.lines.length > 2;
    for (let start = 0; start < count; start++) {
      if (made.max[start] === null) continue;
      let end = start;
      while (end + 1 < count && made.max[end + 1] !== null) end++;
      // The band keeps its outline, so that a peak narrower than a dot is still seen.
      ctx.setLineDash([]);
      ctx.lineWidth = 1;
      ctx.beginPath();
      for (let i = start; i <= end; i++) ctx.lineTo(across(made.at[i]), up(made.max[i]));
      for (let i = end; i >= start; i--) ctx.lineTo(across(made.at[i]), up(made.min[i]));
      ctx.closePath();
      ctx.globalAlpha = many ? 0.06 : 0.2;
      ctx.fill();
      ctx.globalAlpha = many ? 0.25 : 0.4;
      ctx.stroke();
      ctx.globalAlpha = 1;
      ctx.setLineDash(DASHES[index % 4]);
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      for (let i = start; i <= end; i++) {
        if (made.last[i] === null) continue;
        if (i > start && made.last[i - 1] === null) ctx.moveTo(across(made.at[i]), up(made.last[i]));
        else ctx.lineTo(across(made.at[i]), up(made.last[i]));
      }
      ctx.stroke();
      start = end;
    }
    ctx.setLineDash([]);
  }

  function marks() {
    ctx.lineWidth = 1;
    ctx.strokeStyle = ink.soft;
    ctx.setLineDash([2, 4]);
    for (const limit of view.limits) rule(LEFT, up(limit), right, up(limit));
    ctx.strokeStyle = ctx.fillStyle = ink.event;
    ctx.setLineDash([4, 3]);
    for (const event of view.events) {
      const x = Math.round(across(event.at)) + 0.5;
      rule(x, TOP, x, bottom);
      ctx.beginPath();
      ctx.moveTo(x - 4, TOP - 6);
      ctx.lineTo(x + 4, TOP - 6);
      ctx.lineTo(x, TOP);
      ctx.fill();
    }
    ctx.setLineDash([]);
  }

  function draw(anew) {
    if (wide < LEFT + 40 || high < 50 || view.to <= 1) return;
    const sharp = devicePixelRatio || 1;
    const size = [Math.round(wide * sharp), Math.round(high * sharp)];
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    if (anew || !ink) {
      ink = inks();
      pattern = hatch(ink.edge);
    }
    let top = 0;
    for (const { max } of view.lines) for (const held of max) if (held > top) top = held;
    most = view.unit === "ratio" ? 1 : top > 0 ? Math.ceil((top * 1.05) / niceStep(top, 4)) * niceStep(top, 4) : 1;
    ctx.setTransform(sharp, 0, 0, sharp, 0, 0);
    ctx.clearRect(0, 0, wide, high);
    holes();
    axes();
    beginning();
    ctx.save();
    ctx.beginPath();
    ctx.rect(LEFT, 0, right - LEFT, bottom + 1);
    ctx.clip();
    // The first is what is read: it is drawn last, on top.
    for (let index = view.lines.length - 1; index >= 0; index--) line(view.lines[index], index);
    marks();
    ctx.restore();
  }

  function place(at) {
    cursor.hidden = at === null || at < view.from || at > view.to;
    if (!cursor.hidden) cursor.style.left = `${across(at)}px`;
    onCursor(at);
  }

  const peers = groups.get(group) ?? new Set();
  if (group) groups.set(group, peers);
  const me = { place };
  peers.add(me);
  const point = (at) => peers.forEach((peer) => peer.place(at));

  // Told by the browser: asking would make it lay out the page in the middle of a change.
  const sizes = new ResizeObserver(([{ contentRect }]) => {
    [wide, high] = [contentRect.width, contentRect.height];
    [right, bottom] = [wide - 10, high - 20];
    draw();
  });
  sizes.observe(host);

  return { draw, point, stop: () => sizes.disconnect() || peers.delete(me) };
}

export function readout(view, at) {
  if (at === null) return "";
  const told = view.lines.map((line) => {
    let index = line.at.findLastIndex((time) => time <= at);
    if (index < 0) return `${line.name} – before ${at < view.begin ? "the history begins" : "the first look"}`;
    const hole = line.holes.find((hole) => hole.from <= at && at < hole.to);
    const [least, most, last] = [line.min[index], line.max[index], line.last[index]];
    if (most === null || (hole && !hole.share)) return `${line.name} – ${hole?.why ?? "nothing said"}`;
    const band = most > least ? `${amount(least, view.unit)} to ${amount(most, view.unit)}` : amount(most, view.unit);
    const seen = line.seen[index];
    const told = last === null ? `– ${hole?.why} (${band})` : amount(last, view.unit) + (most > least ? ` (${band})` : "");
    return `${line.name} ${told}${seen ? `, ${seen[0]} of ${several(seen[1], "look")}` : ""}`;
  });
  const near = view.events.filter((event) => Math.abs(event.at - at) < (view.to - view.from) / 80).map((event) => `${event.kind}: ${event.text}`);
  return [`${clock(at)} ${zone(at)}`, ...told, ...near].join(" · ");
}
