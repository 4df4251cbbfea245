// A model in a state of its elimination: structure, which steps forward and back, and what follows from
// the order so far: numbers in a format beside their float64 shadow, operations, and ranks.

import { Engine } from "./engine.mjs";
import { floats, residueSource, residues, rounding, unit, digitsIn } from "./arithmetic.mjs";
import { OPERATIONS } from "./blocks.mjs";
import { counter } from "./counting.mjs";
import { QDD } from "./graph.mjs";
import { needed, played, taken } from "./program.mjs";
import { byTen } from "./rigid.mjs";
import { Trace } from "./tracing.mjs";

// Operations with dense blocks beyond which they are not counted one by one: of a whole order, at each
// step; and beyond which nothing but structure is told of what is pointed at, as beyond so many
// instructions, which take 16 ms.
const [COUNTED, STEPPED, FORETOLD] = [2e7, 1e6, 4e5];
const WRITTEN = 2400;
const MOST = 400; // neighbours of a pivot, beyond which numbers are no longer carried along

// Entries of (4), letter -> a list of numbers a body, side or loop, every double passed through ``round``.
export function entriesOf(entries, round) {
  const result = { Phi: entries.Phi ?? entries.pose.map((pose) => transform(pose).map(round)) };
  for (const letter of ["M", "H", "A", "K", "a", "b", "tau", "G", "gamma", "compliance"])
    result[letter] = (entries[letter] ?? []).map((values) => Array.from(values, round));
  return result;
}

// Those of a frame: the ones that differ, letter -> body -> numbers, in the place of those given.
function changed(given, entries = {}) {
  const rows = (letter) => given[letter].map((row, k) => entries[letter][k] ?? row);
  return { ...given, ...Object.fromEntries(Object.keys(entries).map((letter) => [letter, rows(letter)])) };
}

// Phi = [[R, p~ R], [0, R]] of R, row by row, and p, with the engine's roundings.
function transform([a, b, c, d, e, f, g, h, i, x, y, z]) {
  const R = [[a, b, c], [d, e, f], [g, h, i]];
  const moment = ([p, q], [u, v]) => R[u].map((_, at) => p * R[v][at] - q * R[u][at] + 0); // + 0: no -0
  const lever = [moment([y, z], [1, 2]), moment([z, x], [2, 0]), moment([x, y], [0, 1])];
  return [...R.flatMap((row, at) => [...row, ...lever[at]]), ...R.flatMap((row) => [0, 0, 0, ...row])];
}

const MASKED = ["M", "H", "Phi", "A", "K", "G", "compliance"]; // letters whose zeros are told

// What is always 0, what is always 1, and what is some number: 2.
function marksOf({ masks, a }, { dof, parent }) {
  const result = {};
  for (const letter of MASKED)
    result[letter] = (masks[letter] ?? []).map((mask) => Array.from(mask, Number));
  const moved = (k) => dof[k] > 0 || parent[k] < 0 || a[k].some((x) => x !== 0);
  result.a = dof.map((_, k) => new Array(a[k].length).fill(moved(k) ? 2 : 0));
  return result;
}

// Random residues in this pattern, of the matrix's own entries; 0 for all that ranks do not depend on.
function residuesOf(marks) {
  const next = residueSource();
  const value = (mark) => (mark === 2 ? next() : mark);
  const drawn = (letter) => [letter, marks[letter].map((block) => block.map(value))];
  const result = Object.fromEntries(MASKED.map(drawn));
  const upper = (at, n) => n * Math.min(Math.floor(at / n), at % n) + Math.max(Math.floor(at / n), at % n);
  for (const letter of ["M", "A"]) // symmetric
    result[letter] = result[letter].map((block) => block.map((_, at) => block[upper(at, Math.sqrt(block.length))]));
  return result;
}

// What a program's inputs are: a letter's numbers, and ``rest`` where there are none.
const entering = (entries, rest) => (letter, at, size) => entries[letter]?.[at] ?? new Array(size).fill(rest);

function playedIn(trace, scalars, entries, refs = null) {
  const result = (i, operands) => OPERATIONS[i.op](scalars, i, ...operands);
  return played(trace.instructions, entering(entries, 0), result, refs && needed(trace.instructions, refs));
}

const rotated = ({ elimination = "gauss" }) => elimination === "orthogonal";

function whyNoNumbers(data, { rules = {} }) {
  if (!data.entries) return "this model is shown by its structure alone";
  return rotated(rules) ? "it eliminates by rotations of rows, which are no pivots of this matrix" : "";
}

// Operations of the first 0, 1, ... steps that qdd needs, as pivotree counts them, zeros and ones folded
// away.  What is left of the matrix is needed as well, and what it will answer is given.
function operationsOf(trace, entries, structure) {
  const { factors, left, x, steps } = trace;
  const instructions = byTen(trace.instructions);
  const costs = new Float64Array(instructions.length);
  const qdd = joints(trace.graph).map((b) => x.get(b));
  const keep = needed(instructions, [...factors.map(({ ref }) => ref), ...left, ...qdd]);
  played(instructions, entering(marksOf(entries, structure), 2), counter(costs), keep);
  const counts = new Array(steps.length + 1).fill(0);
  for (const { at, step } of instructions) counts[step] += costs[at];
  for (let step = 1; step < counts.length; step++) counts[step] += counts[step - 1];
  return counts;
}

function joints({ n, size }) {
  return Array.from({ length: n }, (_, k) => QDD * n + k).filter((b) => size[b]);
}

export class Model {
  data; form; format; frame; rounded; unrounded;

  // form: { links, split, rules }
  constructor(data, form, format = "float32", frame = null) {
    Object.assign(this, { data, form, format, frame });
    this.engine = new Engine(data.structures[form.links ?? "whole"] ?? data.structures.whole, form.split);
    this.redoable = [];
    this.why = whyNoNumbers(data, form);
    this.kept = {}; // what follows from the steps so far, found when it is asked for
  }

  // Entries before they are rounded.
  get given() {
    return (this.unrounded ??= this.frame ? changed(this.data.entries, this.frame.entries) : this.data.entries);
  }

  // -- forward and back -------------------------------------------------------------------------

  // Eliminate a bracket; { refused } where it cannot be done.
  eliminate(members, redo = false) {
    return this.play([members], redo);
  }

  // Eliminate some brackets, up to one that cannot be; the record of the last, or { refused }.
  play(groups, redo = false) {
    const before = this.engine.step;
    let refused = null;
    for (const members of groups) {
      const record = this.engine.eliminate(members);
      if (record.refused) refused = record;
      if (refused) break;
    }
    if (this.engine.step > before) this.kept = {};
    const singular = this._singular(before);
    if (singular) {
      while (this.engine.step >= singular.step) this.engine.undo();
      this.kept = {};
      refused = singular;
    }
    if (!redo && this.engine.step > before) this.redoable = [];
    return refused ?? this.engine.steps.at(-1) ?? null;
  }

  // The first pivot after some steps that is singular whatever the numbers, or null.
  _singular(before) {
    if (!this.data.entries || this.stopped) return null;
    const marks = residuesOf(marksOf(this.data.entries, this.data.structures.whole));
    const { factors } = this._trace;
    const made = playedIn(this._trace, residues(), marks, factors.map(({ ref }) => ref));
    for (const { block, step, values } of pivotsOf(factors, made)) {
      const rank = values.filter((d) => d !== 0).length;
      if (step <= before || rank === values.length) continue;
      return { block, step, refused: this._rank(block, rank, values.length) };
    }
    return null;
  }

  _rank(block, rank, size) {
    const { graph, gone, near } = this.engine;
    const mate = graph.plain ? ([...near[block]][0] ?? -1) : graph.kind(block) === 0 ? graph.partner[block] : graph.bodies(block)[0];
    const first = mate >= 0 && !gone[mate] ? `: eliminate ${graph.name(mate)} first` : "";
    return `${graph.name(block)} has rank ${rank} of ${size}${first}`;
  }

  undo() {
    const record = this.engine.undo();
    if (!record) return null;
    this.kept = {};
    this.redoable.push(record.members);
    return record;
  }

  redo() {
    const members = this.redoable.pop();
    return members ? this.eliminate(members, true) : null;
  }

  // Whether a pointer's preview leaves numbers to the click: what is singular, operations, digits.
  get large() {
    return this.engine.flops > FORETOLD || (this.computed && this._trace.instructions.length > WRITTEN);
  }

  // What a bracket would do: fill, operations, digits lost; nothing is changed.
  preview(members) {
    const { kept, operations: before, large } = this;
    const record = large ? this.engine.eliminate(members) : this.eliminate(members, true);
    if (record.refused) {
      this.kept = kept;
      return record;
    }
    const after = before === null || large ? null : this.operations;
    const lost = large ? null : this.lostBy(record);
    const total = this.engine.done ? after : null;
    Object.assign(record, { operations: after === null ? null : after - before, total, lost });
    this.engine.undo();
    this.kept = kept;
    return record;
  }

  // -- what follows from the steps --------------------------------------------------------------

  get stopped() {
    const wide = (record) => Math.max(...record.columns.map(([, near]) => near.length));
    const first = this.engine.steps.find((record) => wide(record) > MOST);
    return first ? `step ${first.step} couples ${wide(first)} blocks: from there on, structure alone` : "";
  }

  _traced(together) {
    const { rules = {} } = this.form;
    return new Trace(this.engine, rotated(rules) ? {} : rules, this.data.entries.masks.rows, together);
  }

  get _trace() {
    return (this.kept.trace ??= this._traced(false));
  }

  // At the end joints that were left for last are one dense pivot, as pivotree has them: a wide joint's
  // updates are then subtracted term by term, and not as one sum.
  get _whole() {
    return (this.kept.whole ??= this.engine.done ? this._traced(true) : this._trace);
  }

  get computed() {
    return !this.why && !this.stopped;
  }

  // Whether float64 runs beside.
  get shadowed() {
    return !this.why && this.format !== "float64";
  }

  get _entries() {
    return (this.rounded ??= entriesOf(this.given, rounding(this.format)));
  }

  get _low() {
    return (this.kept.low ??= playedIn(this._trace, floats(this.format), this._entries));
  }

  get _high() {
    return (this.kept.high ??= playedIn(this._trace, floats("float64"), this._entries));
  }

  // Operations of the first 0, 1, ... steps; null where they cannot be counted or are too many.
  counts() {
    const { engine, data } = this;
    if (this.why || engine.flops > (engine.done ? COUNTED : STEPPED)) return null;
    if (!this.kept.counts) {
      const of = (trace) => operationsOf(trace, data.entries, data.structures.whole);
      this.kept.counts = of(this._trace);
      if (engine.done) this.kept.counts[engine.step] = of(this._whole).at(-1);
    }
    return this.kept.counts;
  }

  // Those of all steps so far.
  get operations() {
    return this.counts()?.at(-1) ?? null;
  }

  // -- digits -----------------------------------------------------------------------------------

  // Decimal digits of block (i, j) that rounding has taken so far, of those that the format has; of an
  // eliminated one, when it was.  null where nothing is known.
  lost(i, j) {
    if (!this.shadowed || this.stopped) return null;
    const own = (made) => pivotsOf(this._trace.factors, made).find(({ block }) => i === j && block === i)?.values;
    const pivots = own(this._low);
    if (pivots) return lostBetween(pivots, own(this._high), this.format);
    return this._lost(this._standing(i, j));
  }

  // The entries of block (i, j) as ``lost`` sees them: { rows, columns, low, high }, row by row, in the
  // format and in float64; null where there are none.
  entries(i, j) {
    if (!this.computed) return null;
    const holds = ({ rows }) => i === j && rows.some(({ block }) => block === i);
    const factor = this._trace.factors.find(holds);
    const refs = factor ? [factor.ref.made.args[0]] : this._standing(i, j);
    if (!refs.length) return null;
    const [{ rows, columns }] = refs;
    const { low, high } = this._sums(refs);
    if (!factor) return { rows, columns, low, high };
    const { first, last } = factor.rows.find(({ block }) => block === i);
    const own = (at) => at >= first && at < last;
    const cut = (values) => values.filter((_, at) => own(Math.floor(at / columns)) && own(at % columns));
    return { rows: last - first, columns: last - first, low: cut(low), high: cut(high) };
  }

  // References that add up to block (i, j) of what is left.
  _standing(i, j) {
    const refs = this._trace.fronts.standing(Math.min(i, j), Math.max(i, j));
    return i > j ? refs.map((ref) => ref.t) : refs;
  }

  // The sum of some blocks, in the format and in float64.
  _sums(refs) {
    const sum = (made, { plus }) =>
      refs.map((ref) => taken(made, ref).values).reduce((all, more) => all.map((x, at) => plus(x, more[at])));
    return { low: sum(this._low, floats(this.format)), high: sum(this._high, floats("float64")) };
  }

  _lost(refs) {
    if (!refs.length) return null;
    const { low, high } = this._sums(refs);
    return lostBetween(low, high, this.format);
  }

  // The most digits that a block which a step has changed has lost, and which: { digits, i, j }; or null.
  lostBy({ step }) {
    if (!this.shadowed || this.stopped) return null;
    this.kept.losses ??= [];
    return (this.kept.losses[step] ??= this._worst(this._trace.standing[step - 1]));
  }

  _worst(standing) {
    let worst = null;
    for (const [key, refs] of standing) {
      const digits = this._lost(refs);
      if (digits === null || digits <= (worst?.digits ?? -1)) continue;
      const [i, j] = this.engine.ends(key);
      worst = { digits, i, j };
    }
    return worst;
  }

  // The dense pivots in this format.
  get pivots() {
    return this.computed ? pivotsOf(this._whole.factors, this._final) : [];
  }

  // The first pivot that is zero or not a number in this format.
  get failed() {
    for (const { block, step, values } of this.pivots)
      for (const value of values) if (value === 0 || !Number.isFinite(value)) return { block, step, value };
    return null;
  }

  get _final() {
    if (this._whole === this._trace) return this._low;
    return (this.kept.final ??= playedIn(this._whole, floats(this.format), this._entries));
  }

  // Accelerations of the joints in this format, to the bit those of pivotree; null before the end.
  get qdd() {
    if (!this.computed || !this.engine.done) return null;
    return joints(this.engine.graph).flatMap((b) => taken(this._final, this._whole.x.get(b)).values);
  }

  // Error of qdd against the certified answer, once all is eliminated.
  answer() {
    const { qdd } = this;
    if (!qdd) return null;
    const exact = (this.frame ?? this.data).exact?.[this.format];
    if (!exact || exact.why) return { why: exact?.why ?? "no certified answer" };
    const off = qdd.map((value, i) => Math.abs(value - exact.high[i] - (exact.low?.[i] ?? 0)));
    const error = Math.max(0, ...off) / exact.size;
    if (!off.every(Number.isFinite)) return { qdd, error: null, digits: 0 };
    const most = digitsIn(this.format);
    return { qdd, error, digits: error === 0 ? most : Math.min(most, Math.max(0, -Math.log10(error))) };
  }
}

// Of dense pivots what stands on the diagonal: { block, step, values }, a value a row.
function pivotsOf(factors, made) {
  return factors.flatMap(({ ref, rows }) => {
    const diagonal = made[ref.made.at].values.filter((_, at) => at % (ref.rows + 1) === 0);
    return rows.map(({ block, step, first, last }) => ({ block, step, values: diagonal.slice(first, last) }));
  });
}

function lostBetween(x, y, format) {
  if (!x || !y) return null;
  let [off, size] = [0, 0];
  for (let at = 0; at < x.length; at++) {
    off = Math.max(off, Math.abs(x[at] - y[at]));
    size = Math.max(size, Math.abs(y[at]));
  }
  if (!Number.isFinite(off)) return Infinity;
  return off === 0 ? 0 : Math.max(0, Math.log10(off / size / unit(format)));
}
