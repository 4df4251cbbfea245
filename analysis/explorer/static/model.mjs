// A model in a state of its elimination: structure, numbers in a format beside their float64 shadow,
// and residues that tell ranks.  All of them step forward and back together.

import { Engine } from "./engine.mjs";
import { Numbers } from "./numbers.mjs";
import { Block, floats, identity, residues, residueSource, rounding, unit } from "./arithmetic.mjs";
import { QDD } from "./graph.mjs";
import { operations } from "./tracing.mjs";

const LETTERS = ["M", "H", "A", "a", "b", "tau", "B", "C"]; // A where joints have armature
// Operations with dense blocks beyond which they are not counted one by one: of a whole order, at each
// step, and of what is pointed at.
const [COUNTED, STEPPED, FORETOLD] = [2e7, 1e6, 4e5];
const MOST = 400; // neighbours of a pivot, beyond which numbers are no longer carried along

// Entries of (4) as blocks, every double passed through ``round``.
export function blocksOf(entries, { dof, ties = [] }, round) {
  const shapes = {
    M: () => [6, 6],
    A: (d) => [d, d],
    a: () => [6, 1],
    b: () => [6, 1],
    H: (d) => [d, 6],
    tau: (d) => [d, 1],
    B: (d) => [6, d],
    C: (d) => [6, 6 - d],
  };
  const result = {};
  for (const letter of LETTERS.filter((name) => entries[name]))
    result[letter] = dof.map((d, k) => {
      const [rows, columns] = shapes[letter](d);
      if (!rows || !columns) return null;
      const values = Array.from(entries[letter][k], round);
      return values.some((x) => x !== 0) ? new Block(rows, columns, values) : null;
    });
  result.Phi = entries.pose.map((pose) => new Block(6, 6, Array.from(transform(pose), round)));
  const tied = (letter, heights, columns) =>
    heights.map((rows, at) => new Block(rows, columns ?? rows, Array.from(entries[letter][at], round)));
  const heights = ties.map((tie) => tie.rows);
  result.G = tied("G", sidesOf(ties), 6);
  result.gamma = tied("gamma", heights, 1);
  result.compliance = tied("compliance", heights);
  return result;
}

// Phi = [[R, p~ R], [0, R]] of R, row by row, and p, with the engine's roundings.
function transform([a, b, c, d, e, f, g, h, i, x, y, z]) {
  const R = [[a, b, c], [d, e, f], [g, h, i]];
  const moment = ([p, q], [u, v]) => R[u].map((_, at) => p * R[v][at] - q * R[u][at] + 0); // + 0: no -0
  const lever = [moment([y, z], [1, 2]), moment([z, x], [2, 0]), moment([x, y], [0, 1])];
  return [...R.flatMap((row, at) => [...row, ...lever[at]]), ...R.flatMap((row) => [0, 0, 0, ...row])];
}

// Rows of G, for each body of each loop.
function sidesOf(ties) {
  return ties.flatMap(({ bodies, rows }) => bodies.map(() => rows));
}

// Random residues in the pattern of (4): 0 stays 0, what is always 1 stays 1.
export function residueBlocks(masks, { dof, ties = [] }) {
  const next = residueSource();
  const value = (code) => (code === "2" ? next() : Number(code));
  const fill = (rows, columns, mask) =>
    rows && columns && mask.includes("1") + mask.includes("2")
      ? new Block(rows, columns, Array.from(mask, value))
      : null;
  const result = { a: [], b: [], tau: [], M: [], H: [], Phi: [], A: [], B: [], C: [] };
  dof.forEach((d, k) => {
    result.M.push(fill(6, 6, masks.M[k])?.mirrored ?? null);
    result.H.push(fill(d, 6, masks.H[k]));
    result.Phi.push(fill(6, 6, masks.Phi[k]));
    result.A.push(masks.A ? fill(d, d, masks.A[k]) : null);
    for (const letter of ["a", "b", "tau"]) result[letter].push(null);
    const [along, across] = bases(residues(), result.H.at(-1), masks.rows[k]);
    result.B.push(along);
    result.C.push(across);
  });
  result.G = sidesOf(ties).map((rows, at) => fill(rows, 6, masks.G[at]));
  result.compliance = ties.map(({ rows }, c) => fill(rows, rows, masks.compliance[c]));
  result.gamma = ties.map(() => null);
  return result;
}

// B with H B = 1, on the given rows, and C with H C = 0, the identity beside them.
function bases(ops, H, rows) {
  const beside = [0, 1, 2, 3, 4, 5].filter((i) => !rows.includes(i));
  const columns = (picked) => {
    const values = rows.flatMap((_, r) => picked.map((c) => H.values[6 * r + c]));
    return new Block(rows.length, picked.length, Array.from(values));
  };
  const spread = (block, unit) => {
    if (!block && !unit) return null;
    const width = unit ? beside.length : block.columns;
    if (!width) return null;
    const out = new Block(6, width);
    rows.forEach((row, r) => {
      for (let c = 0; c < width; c++) out.values[row * width + c] = block.values[r * width + c];
    });
    if (unit) beside.forEach((row, c) => (out.values[row * width + c] = 1));
    return out;
  };
  if (!H) return [null, spread(null, true)];
  const A = columns(rows);
  const gram = ops.factor(ops.mul(A.t, A)); // A^-1 = (A^T A)^-1 A^T
  const solved = (right) => ops.solve(gram, ops.mul(A.t, right));
  const across = beside.length ? ops.neg(solved(columns(beside))) : null;
  return [spread(solved(identity(rows.length)), false), spread(across, true)];
}

function whyNoNumbers(data, form) {
  const rules = Object.entries(form.rules ?? {}).filter(([, value]) => value !== "right_looking");
  if (!data.entries) return "this model is shown by its structure alone";
  if ((form.links ?? "whole") === "split") return "links are split into pieces";
  if (rules.length) return `${rules.map(([key, value]) => `${key} ${value}`).join(", ")} is measured, not replayed`;
  return "";
}

// Operations of the first 0, 1, ... steps that qdd needs, as pivotree counts them, zeros and ones folded
// away; null where there are no entries to look at, or more than ``most`` dense operations.
export function counted(engine, data, form, most = engine.done ? COUNTED : STEPPED) {
  return whyNoNumbers(data, form) || engine.flops > most ? null : operations({ engine, data, form });
}

export class Model {
  // form: { links, split, rules }; rules other than assembly "right_looking" have no numbers here
  constructor(data, form, format = "float32", frame = null) {
    Object.assign(this, { data, form, format, frame });
    const structure = data.structures[form.links ?? "whole"] ?? data.structures.whole;
    this.engine = new Engine(structure, form.split);
    this.redoable = [];
    this.why = whyNoNumbers(data, form);
    this._start();
  }

  get source() {
    return this.frame ?? this.data;
  }

  _start() {
    const { graph } = this.engine;
    const { whole } = this.data.structures;
    this.low = this.high = this.rank = null;
    this.stopped = "";
    if (!this.data.entries) return;
    const plain = (this.form.links ?? "whole") === "whole";
    if (plain) this.rank = new Numbers(graph, residues(), residueBlocks(this.data.entries.masks, whole), true);
    if (this.why) return;
    const rightLooking = this.form.rules?.assembly === "right_looking";
    const rounded = blocksOf(this.source.entries, whole, rounding(this.format));
    this.low = new Numbers(graph, floats(rounding(this.format)), rounded, rightLooking);
    if (this.format !== "float64")
      this.high = new Numbers(
        graph,
        floats((x) => x),
        rounded,
        rightLooking,
      );
  }

  // All of them at once, as one list.
  get _numbers() {
    return [this.rank, this.low, this.high].filter(Boolean);
  }

  // Eliminate a bracket; { refused } where it cannot be done.
  eliminate(members, redo = false) {
    const record = this._try(members);
    if (!record.refused && !redo) this.redoable = [];
    return record;
  }

  _try(members) {
    const record = this.engine.eliminate(members);
    if (record.refused) return record;
    const width = Math.max(...record.columns.map(([, near]) => near.length));
    if (this._numbers.length && width > MOST) {
      this.stopped ||= `step ${record.step} couples ${width} blocks: from there on, structure alone`;
      record.bare = true;
    }
    if (this.stopped) record.bare = true;
    if (record.bare) return record;
    this.rank?.eliminate(record);
    const singular = this.rank?.singular();
    if (singular) {
      this.rank.undo();
      this.engine.undo();
      return { refused: this._singular(singular), block: singular.block };
    }
    this.low?.eliminate(record);
    this.high?.eliminate(record);
    record.lost = this.lostBy(record);
    return record;
  }

  _singular({ block, rank, size }) {
    const { graph } = this.engine;
    const mate = graph.kind(block) === 0 ? graph.partner[block] : graph.bodies(block)[0];
    const first = mate >= 0 && !this.engine.gone[mate] ? `: eliminate ${graph.name(mate)} first` : "";
    return `${graph.name(block)} has rank ${rank} of ${size}${first}`;
  }

  undo() {
    const record = this.engine.undo();
    if (!record) return null;
    if (!record.bare) for (const numbers of this._numbers) numbers.undo();
    else if (!this.engine.steps.some((r) => r.bare)) this.stopped = "";
    this.redoable.push(record.members);
    return record;
  }

  redo() {
    const members = this.redoable.pop();
    return members ? this.eliminate(members, true) : null;
  }

  // What a bracket would do: fill, operations, digits lost; nothing is changed.
  preview(members) {
    const { redoable } = this;
    const before = this.operations;
    const { kept } = this;
    const record = this._try(members);
    if (record.refused) return record;
    const after = before === null ? null : (this.counts(FORETOLD)?.at(-1) ?? null);
    Object.assign(record, { operations: after === null ? null : after - before, total: this.engine.done ? after : null });
    this.redoable = [];
    this.undo();
    Object.assign(this, { redoable, kept });
    return record;
  }

  // -- digits -----------------------------------------------------------------------------------

  // Decimal digits of block (i, j) that rounding has taken so far, of those that the format has; of an
  // eliminated one, when it was.  null where nothing is known.
  lost(i, j) {
    if (!this.low || !this.high || this.stopped) return null;
    const gone = i === j ? this.engine.gone[i] : 0;
    const values = (numbers) => (gone ? numbers.pivotsOf(i, gone) : null) ?? numbers.get(i, j)?.values;
    const [x, y] = [values(this.low), values(this.high)];
    if (!x || !y) return null;
    let [off, size] = [0, 0];
    for (let at = 0; at < x.length; at++) {
      off = Math.max(off, Math.abs(x[at] - y[at]));
      size = Math.max(size, Math.abs(y[at]));
    }
    if (!Number.isFinite(off)) return Infinity;
    return off === 0 ? 0 : Math.max(0, Math.log10(off / size / unit(this.format)));
  }

  // The most digits that the blocks which a step has changed have lost, and the worst of them.
  lostBy(record) {
    let worst = null;
    for (const key of record.updates) {
      const [i, j] = this.engine.ends(key);
      if (this.engine.gone[i] || this.engine.gone[j]) continue;
      const digits = this.lost(i, j);
      if (digits !== null && (worst === null || digits > worst.digits)) worst = { digits, i, j };
    }
    return worst;
  }

  // What ``counted`` finds, kept while the order stays.
  counts(most) {
    const order = JSON.stringify(this.engine.groups);
    if (this.kept?.order !== order)
      this.kept = { order, counts: counted(this.engine, this.data, this.form, most) };
    return this.kept.counts;
  }

  // Those of all steps so far.
  get operations() {
    return this.counts()?.at(-1) ?? null;
  }

  // The last pivot that is zero or not a number in this format, by its block and step.
  get failed() {
    for (const [at, step] of (this.low?.steps ?? []).entries())
      for (const { block, value } of step.pivots)
        if (value === 0 || !Number.isFinite(value)) return { block, step: at + 1, value };
    return null;
  }

  // Error of qdd against the certified answer, once all is eliminated.
  answer() {
    if (!this.low || !this.engine.done || this.stopped) return null;
    const exact = this.source.exact?.[this.format];
    if (!exact || exact.why) return { why: exact?.why ?? "no certified answer" };
    const x = this.low.solution();
    const { n } = this.engine.graph;
    const qdd = [];
    for (let k = 0; k < n; k++)
      if (this.engine.graph.size[QDD * n + k]) qdd.push(...(x.get(QDD * n + k)?.values ?? []));
    const off = qdd.map((value, i) => Math.abs(value - exact.high[i] - (exact.low?.[i] ?? 0)));
    const error = Math.max(0, ...off) / exact.size;
    if (!off.every(Number.isFinite)) return { qdd, error: null, digits: 0 };
    const most = -Math.log10(unit(this.format));
    return { qdd, error, digits: error === 0 ? most : Math.min(most, Math.max(0, -Math.log10(error))) };
  }
}
