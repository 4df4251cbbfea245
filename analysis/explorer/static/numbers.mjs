// Elimination with numbers, in brackets: a group's own block is inverted by itself, its inverse
// meets the couplings, and the update is added to what is left last (docs/elimination.md).
// The matrix's own entries and the updates of earlier steps stay apart until a pivot needs their sum.

import { F, FC, FJ, LAM, QDD } from "./graph.mjs";
import { Block, identity } from "./arithmetic.mjs";

export const RHS = -1;

export class Numbers {
  // entries: letters M, H, Phi, a, b, tau (B, C of split forces, A of joints), one Block or null a body;
  // G one for each body of a loop, gamma and compliance one a loop
  // ``apart``: every pivot of a bracket by itself, its update added to what is left at once
  constructor(graph, ops, entries, apart = false) {
    Object.assign(this, { graph, ops, apart });
    this.own = new Map(); // key -> Block, rows those of the smaller block number
    this.more = new Map(); // key -> sum of updates that wait
    this.steps = [];
    this._enter(entries);
  }

  key(i, j) {
    if (j === RHS) return `${i}`;
    return i < j ? i * this.graph.count + j : j * this.graph.count + i;
  }

  _set(i, j, block) {
    if (block) this.own.set(this.key(i, j), j === RHS || i <= j ? block : block.t);
  }

  // Block (i, j) as it stands, updates added last; null where it is zero.
  get(i, j) {
    const key = this.key(i, j);
    const sum = this.ops.add(this.own.get(key) ?? null, this.more.get(key) ?? null);
    return sum && j !== RHS && i > j ? sum.t : sum;
  }

  // The pivots, row by row, of a block that this step has eliminated by itself; null of a pair.
  pivotsOf(block, step) {
    const own = this.steps[step - 1]?.pivots.filter((pivot) => pivot.block === block) ?? [];
    return own.length ? own.map(({ value }) => value) : null;
  }

  _enter({ M, H, Phi, A, a, b, tau, B, C, G, gamma, compliance }) {
    const { graph, ops } = this;
    const { n, structure, split } = graph;
    const carried = new Map([...graph.carriers].map(([body, carrier]) => [carrier, body]));
    for (let k = 0; k < n; k++) {
      const body = carried.get(k) ?? k;
      const up = structure.parent[k];
      const minus = ops.neg(up >= 0 ? Phi[body] : null);
      if (graph.massive[k]) {
        this._set(k, k, M[k]);
        this._set(k, RHS, b[k]);
      }
      if (graph.size[QDD * n + k]) this._set(QDD * n + k, RHS, tau[k]);
      if (graph.geared[k]) this._set(QDD * n + k, QDD * n + k, A[k]);
      if (!split) {
        this._set(k, F * n + k, identity(6));
        if (H[body]) this._set(QDD * n + body, F * n + k, H[body]);
        this._set(F * n + k, RHS, ops.neg(a[body]));
        if (up >= 0) this._set(up, F * n + k, minus);
        continue;
      }
      if (graph.size[FJ * n + k]) this._set(QDD * n + k, FJ * n + k, identity(structure.dof[k]));
      for (const [kind, basis] of [
        [FJ, B[k]],
        [FC, C[k]],
      ]) {
        if (!basis) continue;
        this._set(k, kind * n + k, basis);
        this._set(kind * n + k, RHS, ops.neg(ops.mul(basis.t, a[k])));
        if (up >= 0) this._set(up, kind * n + k, ops.mul(minus, basis));
      }
    }
    let side = 0;
    graph.ties.forEach(({ bodies, signs, soft }, c) => {
      const own = LAM * n + c;
      bodies.forEach((k, at) => this._set(own, k, signs[at] > 0 ? G[side++] : ops.neg(G[side++])));
      if (soft) this._set(own, own, ops.neg(compliance[c]));
      this._set(own, RHS, ops.neg(gamma[c]));
    });
  }

  // -- one group --------------------------------------------------------------------------------

  // Eliminate a record of the structural engine; remembers what it changes.
  eliminate(record) {
    const step = { changed: [], pivots: [], finish: [] };
    const column = new Map(record.columns);
    for (const pivots of this.apart ? record.pivots.map((p) => [p]) : [record.pivots]) {
      const rows = pivots.flat();
      const outside = [...new Set(rows.flatMap((b) => column.get(b)))].filter((o) => !rows.includes(o));
      const work = new Bracket(this, rows, outside);
      for (const pivot of pivots) step.pivots.push(...work.border(pivot));
      work.update((o1, o2, block) => this._subtract(o1, o2, block, step));
      step.finish.push((x) => work.solve(x));
    }
    this.steps.push(step);
    return step;
  }

  // The first singular pivot of the last step: { block, rank, size }, or null.
  singular() {
    const step = this.steps.at(-1);
    const values = new Map();
    for (const { block, value } of step.pivots) values.set(block, [...(values.get(block) ?? []), value]);
    for (const [block, own] of values) {
      const rank = own.filter((d) => d !== 0).length;
      if (rank < own.length) return { block, rank, size: own.length };
    }
    return null;
  }

  _subtract(i, j, block, step) {
    if (!block) return;
    const key = this.key(i, j);
    const place = this.apart ? this.own : this.more;
    const before = place.get(key);
    step.changed.push([key, before]);
    place.set(key, this.ops.sub(before ?? null, j === RHS || i <= j ? block : block.t));
  }

  undo() {
    const step = this.steps.pop();
    const place = this.apart ? this.own : this.more;
    for (const [key, before] of step.changed.reverse())
      if (before) place.set(key, before);
      else place.delete(key);
  }

  // All unknowns, by block number, once every block is eliminated.
  solution() {
    const x = new Map();
    for (const step of [...this.steps].reverse()) for (const finish of [...step.finish].reverse()) finish(x);
    return x;
  }
}

// The three steps of a bracket; kkt/program/bracket.py in doubles and small blocks.
class Bracket {
  constructor(numbers, rows, outside) {
    Object.assign(this, { numbers, ops: numbers.ops, rows, outside });
    this.inverse = new Map();
    this.seen = [];
    this.stages = [];
    this.z = new Map();
    this.y = new Map(rows.map((b) => [b, numbers.get(b, RHS)]));
    this.couples = new Map(rows.map((b) => [b, present(rows, (c) => (b === c ? null : numbers.get(b, c)))]));
    this.C = new Map(outside.map((o) => [o, present(rows, (b) => numbers.get(b, o))]));
  }

  inv(i, j) {
    const ref = this.inverse.get(this.numbers.key(i, j)) ?? null;
    return ref && i > j ? ref.t : ref;
  }

  setInv(i, j, block) {
    if (block) this.inverse.set(this.numbers.key(i, j), i <= j ? block : block.t);
  }

  border(blocks) {
    const { ops, numbers } = this;
    const E = new Map(blocks.map((b) => [b, present(this.seen, (i) => this.couples.get(b).get(i) ?? null)]));
    const W = new Map(
      blocks.map((b) => [
        b,
        present(this.seen, (i) =>
          [...E.get(b)].reduce((sum, [j, e]) => ops.add(sum, ops.mul(this.inv(i, j), e.t)), null),
        ),
      ]),
    );
    const own = (b, c) => {
      let A = numbers.get(b, c);
      for (const [i, e] of E.get(b)) A = ops.sub(A, ops.mul(e, W.get(c).get(i) ?? null));
      return A && b === c ? A.mirrored : A;
    };
    const pivot =
      blocks.length === 2
        ? pairPivot(ops, blocks, own(blocks[0], blocks[0]))
        : densePivot(ops, blocks[0], own(blocks[0], blocks[0]));
    const right = new Map();
    for (const b of blocks) {
      let r = this.y.get(b);
      for (const [i, e] of E.get(b)) r = ops.sub(r, ops.mul(e, this.z.get(i) ?? null));
      right.set(b, r);
    }
    const s = pivot.apply(right);
    const coupled = this.seen.filter((i) => blocks.some((b) => W.get(b).has(i)));
    const left = new Map(coupled.map((i) => [i, present(blocks, (b) => W.get(b).get(i)?.t ?? null)]));
    const solved = new Map(coupled.map((i) => [i, pivot.apply(left.get(i))]));
    const grown = [];
    coupled.forEach((i, at) => {
      for (const j of coupled.slice(at)) {
        const more = pivot.quadratic(left.get(i), left.get(j));
        const sum = ops.add(this.inv(i, j), more);
        grown.push([i, j, i === j ? sum?.mirrored : sum]);
      }
    });
    for (const [i, j, block] of grown) this.setInv(i, j, block);
    for (const i of coupled) {
      for (const b of blocks)
        this.z.set(i, ops.sub(this.z.get(i) ?? null, ops.mul(W.get(b).get(i) ?? null, s.get(b))));
      for (const [b, block] of solved.get(i)) if (block) this.setInv(i, b, ops.neg(block.t));
    }
    for (const [b, c, block] of pivot.inverse()) this.setInv(b, c, block);
    for (const [b, block] of s) this.z.set(b, block);
    this.seen.push(...blocks);
    this.stages.push({ pivot, E, W, blocks });
    return pivot.pivots.map((value, row) => ({ block: blocks[0], row, value }));
  }

  // Steps 2 and 3: the inverse meets the couplings, and the update is formed whole.
  // ``subtract`` is told of every block (i, j) that is to be subtracted from what is left.
  update(subtract) {
    const { ops, outside, C } = this;
    const { size } = this.numbers.graph;
    const turned = new Map(outside.map((o) => [o, [...C.get(o)].map(([b, c]) => [b, c.t])]));
    const X = new Map();
    const solved = (o) => {
      if (!X.has(o))
        X.set(
          o,
          present(this.rows, (i) =>
            [...C.get(o)].reduce((sum, [j, c]) => ops.add(sum, ops.mul(this.inv(i, j), c)), null),
          ),
        );
      return X.get(o);
    };
    // C_a^T x, of the rows that both have
    const inner = (a, x) =>
      turned.get(a).reduce((sum, [i, c]) => ops.add(sum, ops.mul(c, x.get(i) ?? null)), null);
    outside.forEach((o, at) => {
      for (let next = at; next < outside.length; next++) {
        const other = outside[next];
        const [a, b] = size[other] <= size[o] ? [o, other] : [other, o];
        const total = inner(a, solved(b));
        subtract(a, b, total && a === b ? total.mirrored : total);
      }
      subtract(o, RHS, inner(o, this.z));
    });
  }

  // x = B^-1 (y - C x of the outside), stage by stage.
  solve(x) {
    const { ops } = this;
    const right = new Map(this.y);
    for (const [o, column] of this.C)
      for (const [b, c] of column) right.set(b, ops.sub(right.get(b), ops.mul(c, x.get(o) ?? null)));
    const u = new Map();
    for (const { pivot, E, W, blocks } of this.stages) {
      for (const b of blocks) {
        let r = right.get(b);
        for (const [i, e] of E.get(b)) r = ops.sub(r, ops.mul(e, u.get(i) ?? null));
        u.set(b, r);
      }
      const s = pivot.apply(u);
      for (const b of blocks)
        for (const [i, w] of W.get(b)) u.set(i, ops.sub(u.get(i) ?? null, ops.mul(w, s.get(b))));
      for (const [b, block] of s) u.set(b, block);
    }
    for (const [b, block] of u) x.set(b, block);
  }
}

function present(keys, value) {
  const result = new Map();
  for (const key of keys) {
    const block = value(key);
    if (block) result.set(key, block);
  }
  return result;
}

// [[X, 1], [1, 0]] with the inverse [[0, 1], [1, -X]]: no arithmetic happens on the 1.
function pairPivot(ops, [x, z], X) {
  const at = (c, b) => c.get(b) ?? null;
  const second = (c) => ops.sub(at(c, x), ops.mul(X, at(c, z)));
  return {
    pivots: [],
    apply: (c) =>
      new Map([
        [x, at(c, z)],
        [z, second(c)],
      ]),
    quadratic: (c1, c2) =>
      ops.add(at(c1, x) && ops.mul(at(c1, x).t, at(c2, z)), at(c1, z) && ops.mul(at(c1, z).t, second(c2))),
    inverse: () => [
      [x, z, identity(X ? X.rows : 6)],
      [z, z, ops.neg(X)],
    ],
  };
}

function densePivot(ops, b, A) {
  const factored = ops.factor(A);
  return {
    pivots: factored.pivots,
    apply: (c) => new Map([[b, ops.solve(factored, c.get(b) ?? null)]]),
    quadratic: (c1, c2) =>
      ops.inner(factored, ops.forward(factored, c1.get(b) ?? null), ops.forward(factored, c2.get(b) ?? null)),
    inverse: () => [[b, b, ops.solve(factored, identity(A.rows)).mirrored]],
  };
}
