// History as a chart needs it, with nothing made up: a value holds until the next look, and a line ends where nothing was said
// or two looks lie further apart than three of their own intervals.

const WHY = { s: "stale", "-": "not reported", u: "unreachable", i: "impossible", a: "not there" };
const LONG = "no looks";

const middle = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

/**
 * Rows of time, last, least and most, and the holes with their reasons. `last` is null where the line is broken, least and most where
 * nothing was said; `seen` is of how many of a step's looks they are, and a hole's `share` how much of it was unknown, if not all.
 */
export function rows(series, until) {
  const made = { at: [], last: [], min: [], max: [], seen: [], holes: [], told: null };
  const put = (at, piece) => {
    made.at.push(at);
    for (const key of ["last", "min", "max", "seen"]) made[key].push(piece?.[key] ?? null);
  };
  const hole = (from, to, why, share) => {
    const before = made.holes.at(-1);
    if (before && before.why === why && before.share === share && from - before.to < 1) before.to = to;
    else if (to > from) made.holes.push({ from, to, why, ...(share && { share }) });
  };
  const pieces = [...steps(series.steps), ...looks(series.looks)];
  const apart = [];
  pieces.forEach((piece, index) => {
    const next = pieces[index + 1]?.at ?? until;
    const gap = next - piece.at;
    // Its own interval: a step's length, or what the looks before it kept.
    const usual = piece.step ?? (apart.length ? middle(apart) : Math.min(gap, 15));
    if (!piece.step && index + 1 < pieces.length) {
      apart.push(gap);
      if (apart.length > 7) apart.shift();
    }
    const broken = gap > 3 * usual;
    // The last look stands for its own interval only, not until now.
    const end = broken ? piece.at + usual : index + 1 < pieces.length ? next : Math.min(until, piece.at + usual);
    put(piece.at, piece);
    if (piece.max !== null) put(end - 0.001, piece);
    if (piece.dark) hole(piece.at, end, piece.why, piece.dark < 1 ? piece.dark : undefined);
    if (broken) {
      put(end, null);
      hole(end, next, LONG);
    }
    if (piece.last !== null) made.told = Math.min(until, piece.at + (piece.step ?? 0));
  });
  return made;
}

function* steps(said) {
  for (let i = 0; i < (said?.at.length ?? 0); i++) {
    const count = (kind) => said[kind]?.[i] ?? 0;
    const dark = ["unreachable", "not_reported", "impossible", "stale"].filter(count);
    const unknown = dark.reduce((sum, kind) => sum + count(kind), 0);
    const all = unknown + count("fresh");
    const share = all ? unknown / all : said.last[i] == null ? 1 : 0;
    // One look in an hour is no line through it; what it said still counts among least and most.
    yield { at: said.at[i], step: said.step_s[i], last: share > 0.5 ? null : said.last[i] ?? null, min: said.min[i] ?? said.last[i] ?? null,
      max: said.max[i] ?? said.last[i] ?? null, dark: share, seen: unknown && [count("fresh"), all], why: (dark[0] ?? "not reported").replace("_", " ") };
  }
}

function* looks(said) {
  for (let i = 0; i < (said?.at.length ?? 0); i++) {
    const value = said.state[i] === "r" ? said.value[i] : null;
    yield { at: said.at[i], last: value, min: value, max: value, dark: Number(value === null), why: WHY[said.state[i]] ?? "not reported" };
  }
}

const LETTERS = { reported: "r", derived: "r", inferred: "r", stale: "s", not_reported: "-", unreachable: "u", impossible: "i" };

/** One more look; one nearer to the last than `least` seconds is the last, told again. */
export function append(series, at, reading, least) {
  series.looks ??= { at: [], value: [], state: "" };
  const { looks } = series;
  const last = Math.max(looks.at.at(-1) ?? 0, series.steps?.at.at(-1) ?? 0);
  if (at <= last + least) return;
  looks.at.push(at);
  looks.value.push(typeof reading?.[0] === "number" ? reading[0] : null);
  looks.state += LETTERS[reading?.[1]] ?? "-";
}

/** Drops what lies before `from`: a page may be open for days. */
export function trim(series, from) {
  const { looks } = series;
  const cut = looks ? looks.at.findIndex((at) => at >= from) : 0;
  if (cut > 500) {
    looks.at.splice(0, cut);
    looks.value.splice(0, cut);
    looks.state = looks.state.slice(cut);
  }
}

export function summary(made, from, to) {
  let [least, most, latest] = [null, null, null];
  made.at.forEach((time, i) => {
    if (made.max[i] === null || time < from || time > to) return;
    if (least === null || made.min[i] < least) least = made.min[i];
    if (most === null || made.max[i] > most) most = made.max[i];
    latest = made.last[i] ?? latest;
  });
  const dark = made.holes.reduce((sum, hole) => sum + Math.max(0, Math.min(hole.to, to) - Math.max(hole.from, from)) * (hole.share ?? 1), 0);
  return { least, most, latest, at: made.told, dark };
}
