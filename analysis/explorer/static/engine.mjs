// Elimination on structure: which blocks become nonzero, what a pivot costs, what may be a pivot.
// Agrees step by step with kkt/structure/symbolic.py; every step can be taken back.

import { BlockGraph, F, FJ, LAM, PDD, QDD } from "./graph.mjs";

export class Engine {
  constructor(structure, split = false) {
    const graph = new BlockGraph(structure, split);
    this.graph = graph;
    this.near = Array.from({ length: graph.count }, () => new Set()); // of blocks that are left
    this.made = new Map(); // key of an off-diagonal block -> step that made it, 0 at the start
    this.diagonal = new Int32Array(graph.count).fill(-1); // the same for diagonal blocks, -1: zero
    this.gone = new Int32Array(graph.count); // step that eliminated each block, 0 while it is left
    this.steps = [];
    this.fill = 0;
    this.thirds = 0; // of an operation, with dense blocks: whole numbers
    for (const [i, j] of graph.edges) {
      this.made.set(this.key(i, j), 0);
      this.near[i].add(j);
      this.near[j].add(i);
    }
    for (let k = 0; k < graph.n; k++) {
      if (graph.massive[k]) this.diagonal[k] = 0;
      if (graph.geared[k]) this.diagonal[QDD * graph.n + k] = 0;
    }
    graph.ties.forEach(({ soft }, c) => {
      if (soft) this.diagonal[LAM * graph.n + c] = 0;
    });
  }

  key(i, j) {
    return i < j ? i * this.graph.count + j : j * this.graph.count + i;
  }

  ends(key) {
    return [Math.floor(key / this.graph.count), key % this.graph.count];
  }

  get step() {
    return this.steps.length;
  }

  get left() {
    return this.graph.blocks.filter((b) => !this.gone[b]);
  }

  get flops() {
    return this.thirds / 3;
  }

  get done() {
    return this.graph.blocks.every((b) => this.gone[b]);
  }

  get groups() {
    return this.steps.map((record) => record.members);
  }

  // Eliminate a bracket.  Returns its record, or { refused } and leaves all as it was.
  eliminate(members) {
    const step = this.step + 1;
    const record = {
      step,
      members: [...members],
      pivots: [],
      fill: [],
      thirds: 0,
      updates: new Set(),
      updatesOf: [],
      diagonal: [],
      columns: [],
    };
    const again = members.find((b) => this.gone[b]);
    if (again !== undefined) return this._again(again);
    const { graph } = this;
    for (const pivot of graph.inside(members)) {
      const [x, z] = pivot;
      const touched = [...this.steps, record].some(({ updates }) => !graph.plain && updates.has(this.key(x, z)));
      const exact = this.near[x].has(z) && this.diagonal[z] < 0 && !touched;
      for (const blocks of exact || z === undefined ? [pivot] : [[x], [z]]) {
        if (blocks.length === 1 && this.diagonal[blocks[0]] < 0) {
          this._takeBack(record);
          return { refused: this._zero(blocks[0]) };
        }
        this._pivot(blocks, record, step);
      }
    }
    this.steps.push(record);
    this.fill += record.fill.length;
    record.flops = record.thirds / 3;
    this.thirds += record.thirds;
    return record;
  }

  // The blocks [i, j] that a step makes nonzero, as many as it paints: its fill, which is counted above
  // the diagonal, their mirror images, and those on the diagonal.
  madeBy({ fill, diagonal }) {
    const above = fill.map((key) => this.ends(key));
    return [...above, ...above.map(([i, j]) => [j, i]), ...diagonal.map((b) => [b, b])];
  }

  undo() {
    const record = this.steps.pop();
    if (!record) return null;
    this.fill -= record.fill.length;
    this.thirds -= record.thirds;
    this._takeBack(record);
    return record;
  }

  _takeBack(record) {
    for (const [block, column] of record.columns.reverse()) {
      this.gone[block] = 0;
      for (const other of column) this.near[other].add(block);
      this.near[block] = new Set(column);
    }
    for (const key of record.fill) {
      const [i, j] = this.ends(key);
      this.made.delete(key);
      this.near[i].delete(j);
      this.near[j].delete(i);
    }
    for (const b of record.diagonal) this.diagonal[b] = -1;
  }

  _pivot(blocks, record, step) {
    const { size } = this.graph;
    const [x, z] = blocks;
    const through = [...this.near[z ?? x]].filter((o) => o !== x);
    const beside = z === undefined ? [] : [...this.near[x]].filter((o) => o !== z);
    const full = z === undefined || !this.graph.plain || this.diagonal[x] >= 0; // else [0 b; b 0]
    record.pivots.push(blocks);
    record.updatesOf.push(new Set());
    for (const b of blocks) {
      let width = 0;
      for (const o of this.near[b]) width += size[o];
      const s = size[b];
      record.thirds += s * s * s + 6 * s * s * width + 3 * s * width * (width + 1);
      record.columns.push([b, [...this.near[b]]]);
      for (const o of this.near[b]) this.near[o].delete(b);
      this.gone[b] = step;
    }
    for (let i = 0; i < through.length; i++) {
      if (full) for (let j = i; j < through.length; j++) this._update(through[i], through[j], record, step);
      for (const other of beside) this._update(through[i], other, record, step);
    }
  }

  // A pivot adds to block (i, j).
  _update(i, j, record, step) {
    const key = this.key(i, j);
    record.updates.add(key);
    record.updatesOf.at(-1).add(key);
    if (i === j) {
      if (this.diagonal[i] < 0) {
        this.diagonal[i] = step;
        record.diagonal.push(i);
      }
      return;
    }
    if (!this.made.has(key)) {
      this.made.set(key, step);
      this.near[i].add(j);
      this.near[j].add(i);
      record.fill.push(key);
    }
  }

  // -- refusals ---------------------------------------------------------------------------------

  _again(block) {
    return { refused: `${this.graph.name(block)} is eliminated already, at step ${this.gone[block]}` };
  }

  _zero(block) {
    const { graph } = this;
    const { n } = graph;
    if (graph.plain) {
      const beside = [...this.near[block]].find((b) => this.diagonal[b] >= 0);
      return `${graph.name(block)} is structurally zero${beside === undefined ? "" : `: eliminate ${graph.name(beside)} first`}`;
    }
    const k = graph.body(block);
    const force = graph.split ? FJ : F;
    const waiting = (kinds) => kinds.map((kind) => kind * n + k).filter((b) => !this.gone[b]);
    const kind = graph.kind(block);
    if (kind === LAM) {
      const tied = graph.bodies(block).filter((b) => !this.gone[b]).map((b) => graph.name(b));
      const hint = tied.length ? `: eliminate ${tied[0]} and the joints of its loop first` : "";
      return `${graph.name(block)} is structurally zero${hint}`;
    }
    const first = waiting(kind === QDD ? [PDD, force] : [PDD]).map((b) => graph.name(b));
    const how = { [QDD]: ", or bracket all three", [F]: ", or bracket the two" };
    const hint = first.length ? `: eliminate ${first.join(" and ")} first` : "";
    const whole = first.length === (kind === QDD ? 2 : 1);
    return `${graph.name(block)} is structurally zero${hint}${whole ? (how[kind] ?? "") : ""}`;
  }

  // The pivot that block (row, col) stands for: a diagonal block, or the identity of a pair.
  pivotAt(row, col) {
    const { graph } = this;
    if (row === col) return { members: [row] };
    const where = `(${graph.name(row)}, ${graph.name(col)})`;
    const key = this.key(row, col);
    const gone = [row, col].find((b) => this.gone[b]);
    if (gone !== undefined) return this._again(gone);
    if (graph.size[row] !== graph.size[col])
      return { refused: `${where} is not square: ${graph.size[row]}x${graph.size[col]}` };
    if (!this.made.has(key)) return { refused: `${where} is zero` };
    if (graph.partner[row] !== col)
      return {
        refused: `${where} is no identity: only pdd with f (or qdd with fJ) of one body can be a pivot off the diagonal`,
      };
    const touched = this.steps.find(({ updates }) => updates.has(key));
    if (touched) return { refused: `${where} is no identity any more: step ${touched.step} changed it` };
    const second = graph.split ? Math.min(row, col) : Math.max(row, col); // zero in an exact inverse
    if (this.diagonal[second] >= 0)
      return { refused: `${graph.name(second)} is no longer zero: pivot on it alone` };
    return { members: [Math.min(row, col), Math.max(row, col)] };
  }

  // -- the elimination tree so far --------------------------------------------------------------

  // Map of each eliminated block to the first eliminated one that waits for it, or -1.
  tree() {
    const parent = new Map();
    const order = [];
    const column = new Map();
    const paired = new Map();
    for (const record of this.steps) {
      for (const [b, near] of record.columns) {
        column.set(b, near);
        order.push(b);
      }
      for (const [x, z] of record.pivots) if (z !== undefined) paired.set(x, z);
    }
    const place = new Map(order.map((b, t) => [b, t]));
    for (const record of this.steps)
      for (const [x, z] of record.pivots) {
        const last = z ?? x;
        const lone = z !== undefined && column.get(z).length === 0;
        if (z !== undefined) parent.set(x, z);
        let first = -1;
        for (const o of [...column.get(x), ...(z === undefined ? [] : column.get(z))]) {
          if (o === last || !place.has(o) || (lone && paired.has(o))) continue;
          if (first < 0 || place.get(o) < place.get(first)) first = o;
        }
        parent.set(last, first);
      }
    return { parent, order };
  }

  // Once all is eliminated: blocks on the longest path of pivots that must wait for each other.
  get height() {
    const level = new Map();
    const at = (b) => level.get(b) ?? 1;
    const raise = (b, other) => level.set(b, Math.max(at(b), at(other) + 1));
    const place = new Map(this.tree().order.map((b, t) => [b, t]));
    for (const record of this.steps) {
      const column = new Map(record.columns);
      for (const [x, z] of record.pivots) {
        if (z !== undefined) raise(z, x);
        const through = column.get(z ?? x);
        for (const o of through) raise(o, z ?? x);
        // neighbours of x are updated against those of z
        const last = Math.max(-1, ...through.map((o) => place.get(o)));
        for (const o of z === undefined ? [] : column.get(x)) if (o !== z && place.get(o) < last) raise(o, z);
      }
    }
    return Math.max(0, ...this.graph.blocks.map(at));
  }
}

// Of a matrix of one's own: what is left, block by block, each once it is no longer zero.
function blockByBlock(engine) {
  const groups = [];
  const ready = () => engine.left.find((b) => engine.diagonal[b] >= 0);
  for (let b = ready(); b !== undefined; b = ready()) {
    groups.push([b]);
    engine.eliminate([b]);
  }
  const { left } = engine;
  groups.forEach(() => engine.undo());
  return [...groups, left];
}

// Blocks of all that is left, body by body: a bracket (pdd qdd f) each, which is never refused; then
// multipliers, one loop after another.
export function completion(engine) {
  const { graph, gone } = engine;
  const bodies = graph.plain ? blockByBlock(engine) : graph.structure.order.map((k) => graph.own(k));
  const loops = graph.ties.map((_, c) => [LAM * graph.n + c]);
  const left = [...bodies, ...loops].map((group) => group.filter((b) => !gone[b]));
  return left.filter((group) => group.length);
}
