// History as a chart needs it. Nothing is made up: a value holds until the next look, and a line ends where nothing was said
// and where two looks lie further apart than three of their own intervals.

const WHY = { s: "stale", "-": "not reported", u: "unreachable", i: "impossible", a: "not there" };
const LONG = "no looks";

const middle = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

/** Rows of time, last, least and most, null where the line is broken, and the holes with their reasons. */
export function rows(series, until) {
  const made = { at: [], last: [], min: [], max: [], holes: [], told: null };
  const put = (at, last, min, max) => {
    made.at.push(at);
    made.last.push(last);
    made.min.push(min);
    made.max.push(max);
  };
  const hole = (from, to, why) => {
    const before = made.holes.at(-1);
    if (before && before.why === why && from - before.to < 1) before.to = to;
    else if (to > from) made.holes.push({ from, to, why });
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
    if (piece.last === null) {
      put(piece.at, null, null, null);
      hole(piece.at, broken && index + 1 < pieces.length ? piece.at + usual : end, piece.why);
    } else {
      put(piece.at, piece.last, piece.min, piece.max);
      put(end - 0.001, piece.last, piece.min, piece.max);
    }
    if (broken) {
      put(end, null, null, null);
      hole(end, next, LONG);
    }
    if (piece.last !== null) made.told = Math.min(until, piece.at + (piece.step ?? 0));
  });
  return made;
}

function* steps(said) {
  for (let i = 0; i < (said?.at.length ?? 0); i++) {
    const told = said.last[i] != null;
    const why = ["unreachable", "not_reported", "impossible", "stale"].find((kind) => said[kind]?.[i] > 0) ?? "not reported";
    // Least and most of a step where the last look said nothing are still known, but not where the line would stand.
    yield { at: said.at[i], step: said.step_s[i], last: told ? said.last[i] : null, min: said.min[i] ?? said.last[i], max: said.max[i] ?? said.last[i],
      why: why.replace("_", " ") };
  }
}

function* looks(said) {
  for (let i = 0; i < (said?.at.length ?? 0); i++) {
    const value = said.state[i] === "r" ? said.value[i] : null;
    yield { at: said.at[i], last: value, min: value, max: value, why: WHY[said.state[i]] ?? "not reported" };
  }
}

const LETTERS = { reported: "r", derived: "r", inferred: "r", stale: "s", not_reported: "-", unreachable: "u", impossible: "i" };

/** One more look, as it was just told; one that lies nearer to the last than `least` seconds is the last, told again. */
export function append(series, at, reading, least) {
  series.looks ??= { at: [], value: [], state: "" };
  const { looks } = series;
  const last = Math.max(looks.at.at(-1) ?? 0, series.steps?.at.at(-1) ?? 0);
  if (at <= last + least) return false;
  looks.at.push(at);
  looks.value.push(typeof reading?.[0] === "number" ? reading[0] : null);
  looks.state += LETTERS[reading?.[1]] ?? "-";
  return true;
}

/** Drops what lies before `from`, so that a page left open for days does not grow. */
export function trim(series, from) {
  const { looks } = series;
  const cut = looks ? looks.at.findIndex((at) => at >= from) : 0;
  if (cut > 500) {
    looks.at.splice(0, cut);
    looks.value.splice(0, cut);
    looks.state = looks.state.slice(cut);
  }
}

/** Latest, least and most of what is shown, and for how long nothing was known. */
export function summary(made, from, to) {
  let [least, most, latest] = [null, null, null];
  made.at.forEach((time, i) => {
    if (made.last[i] === null || time < from || time > to) return;
    if (least === null || made.min[i] < least) least = made.min[i];
    if (most === null || made.max[i] > most) most = made.max[i];
    latest = made.last[i];
  });
  const dark = made.holes.reduce((sum, hole) => sum + Math.max(0, Math.min(hole.to, to) - Math.max(hole.from, from)), 0);
  return { least, most, latest, at: made.told, dark };
}
