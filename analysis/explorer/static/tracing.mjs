// An order as operations on blocks, counted and not computed: what kkt/program's tracer, fronts
// and brackets write, in the same order, so that both count the same.

import { Counted, add, bases, costsOf, during, eye, factor, mul, neg, square, sub, t } from "./counting.mjs";
import { Bracket, Dense, Pair, RHS, present } from "./brackets.mjs";
import { F, FC, FJ, LAM, QDD } from "./graph.mjs";

// Operations of the first 0, 1, ... steps that qdd needs, forward and backward, zeros and ones of the
// model folded away.  What is left of the matrix is needed as well, and what it will answer is given.
export function operations(model) {
  const counts = new Trace(model).count();
  // joints that are left for last are one dense pivot, as it shows at the end
  const together = new Trace(model, true);
  if (together.merged) counts[counts.length - 1] = together.count().at(-1);
  return counts;
}

class Trace {
  constructor({ engine, data, form }, tail = false) {
    Object.assign(this, { graph: engine.graph, data, steps: engine.steps });
    const rules = form.rules ?? {};
    this.atOnce = rules.assembly === "right_looking";
    this.carried = this.atOnce || rules.couple === "carried";
    this.left = engine.left;
    this.position = new Map();
    this.step = new Map(); // of each block
    this.steps.forEach((record, s) => {
      for (const b of record.pivots.flat()) {
        this.position.set(b, this.position.size);
        this.step.set(b, s);
      }
    });
    for (const b of this.left) {
      this.position.set(b, this.position.size); // after all others
      this.step.set(b, this.steps.length);
    }
    this.groups = this.grouped(tail && engine.done);
    this.matrix = new Map();
    this.near = new Map(this.graph.blocks.map((b) => [b, new Set()]));
    this.waiting = new Map(); // step -> update matrices, each block -> key -> value
    this.here = new Map();
    this.factors = [];
    this.backward = [];
    this.x = new Map();
  }

  count() {
    this.enter();
    const steps = this.groups.map((members) => 1 + this.step.get(members.at(-1).blocks.at(-1)));
    this.groups.forEach((members, at) => during(steps[at], () => this.group(members)));
    const { n, size } = this.graph;
    const left = this.left.map((b) => new Counted(size[b], 1, new Int32Array(size[b]).fill(2)));
    this.left.forEach((b, at) => this.x.set(b, left[at]));
    this.backward.reverse().forEach((finish, at) => during(steps.at(-1 - at), finish));
    const waiting = [...this.waiting.values()].flat().flatMap((update) => [...update.values()]);
    const wanted = [...this.factors, ...this.remaining(), ...waiting.flatMap((row) => [...row.values()].map(({ value }) => value))];
    for (let k = 0; k < n; k++) if (size[QDD * n + k]) wanted.push(this.x.get(QDD * n + k));
    let sum = 0;
    return costsOf(wanted.filter(Boolean), this.steps.length).map((cost) => (sum += cost));
  }

  // The matrix of what is not eliminated.
  remaining() {
    const left = new Set(this.left);
    return this.left.flatMap((i) =>
      [...this.near.get(i), i, RHS]
        .filter((j) => j === RHS || left.has(j))
        .map((j) => this.matrix.get(this.key(i, j))),
    );
  }

  // -- the matrix -------------------------------------------------------------------------------

  enter() {
    const { graph, data } = this;
    const { n, structure, split } = graph;
    const { entries } = data;
    const { masks } = entries;
    const { dof, parent } = data.structures.whole;
    const coded = (rows, columns, mask, symmetric) =>
      new Counted(rows, columns, Int32Array.from(mask, Number), [], symmetric);
    const full = (rows, on) => (on ? coded(rows, 1, "2".repeat(rows)) : coded(rows, 1, "0".repeat(rows)));
    const of = (make) => dof.map((_, k) => make(k));
    const input = {
      M: of((k) => coded(6, 6, masks.M[k], true)),
      H: of((k) => (dof[k] ? coded(dof[k], 6, masks.H[k]) : null)),
      Phi: of((k) => coded(6, 6, masks.Phi[k])),
      a: of((k) => full(6, dof[k] > 0 || parent[k] < 0 || entries.a[k].some((x) => x !== 0))),
      b: of(() => full(6, true)),
      tau: of((k) => full(dof[k], true)),
    };
    const one = eye(6);
    const carried = new Map([...graph.carriers].map(([body, carrier]) => [carrier, body]));
    for (let k = 0; k < n; k++) {
      const body = carried.get(k) ?? k;
      const up = structure.parent[k];
      const Phi = up >= 0 ? input.Phi[body] : null;
      if (graph.massive[k]) {
        this.set(k, k, input.M[body]);
        this.set(k, RHS, input.b[body]);
        if (dof[body]) this.set(QDD * n + k, RHS, input.tau[body]);
        if (graph.geared[k]) this.set(QDD * n + k, QDD * n + k, coded(dof[body], dof[body], masks.A[body], true));
      }
      const a = neg(input.a[body]);
      if (!split) {
        this.set(k, F * n + k, one);
        this.set(QDD * n + body, F * n + k, input.H[body]);
        this.set(F * n + k, RHS, a);
        if (Phi) this.set(up, F * n + k, neg(Phi));
        continue;
      }
      const [along, across] = input.H[k] ? bases(input.H[k], masks.rows[k]) : [null, one];
      if (input.H[k]) this.set(QDD * n + k, FJ * n + k, eye(dof[k]));
      for (const [kind, basis] of [
        [FJ, along],
        [FC, across],
      ]) {
        if (!basis) continue;
        this.set(k, kind * n + k, basis);
        this.set(kind * n + k, RHS, mul(t(basis), a));
        if (Phi) this.set(up, kind * n + k, neg(mul(Phi, basis)));
      }
    }
    let side = 0;
    graph.ties.forEach(({ bodies, signs, rows, soft }, c) => {
      const own = LAM * n + c;
      bodies.forEach((k, at) => {
        const G = coded(rows, 6, masks.G[side++]);
        this.set(own, k, signs[at] > 0 ? G : neg(G));
      });
      if (soft) this.set(own, own, neg(coded(rows, rows, masks.compliance[c], true)));
      this.set(own, RHS, neg(full(rows, true)));
    });
  }

  key(i, j) {
    if (j === RHS) return -1 - i;
    return Math.min(i, j) * this.graph.count + Math.max(i, j);
  }

  set(i, j, value) {
    if (!value) return;
    this.matrix.set(this.key(i, j), j === RHS || i <= j ? value : t(value));
    if (i !== j && j !== RHS) this.couple(i, j);
  }

  couple(i, j) {
    this.near.get(i).add(j);
    this.near.get(j).add(i);
  }

  // Block (i, j) as it stands, updates of earlier steps added last.
  get(i, j) {
    const value = this.assembled(i, j);
    return value && j !== RHS && i > j ? t(value) : value;
  }

  earlier(i, j) {
    return j === RHS || this.position.get(i) < this.position.get(j) ? i : j;
  }

  assembled(i, j) {
    const key = this.key(i, j);
    const row = this.here.get(this.earlier(i, j));
    const update = row?.get(key);
    const own = this.matrix.get(key) ?? null;
    if (!update) return own;
    row.delete(key);
    const total = add(own, update.value);
    this.matrix.set(key, total);
    return total;
  }

  // -- steps ------------------------------------------------------------------------------------

  // Each a list of pivots: a pair, or one dense pivot of blocks that follow each other.
  grouped(together) {
    const { graph } = this;
    const groups = this.steps.map(({ pivots }) => {
      const merged = [];
      for (const blocks of pivots) {
        if (blocks.length === 1 && merged.length && !merged.at(-1).pair) merged.at(-1).blocks.push(blocks[0]);
        else merged.push({ blocks: [...blocks], pair: blocks.length === 2 });
      }
      return merged;
    });
    const joints = ({ blocks }) => blocks.every((b) => [QDD, LAM].includes(graph.kind(b)));
    let tail = [];
    while (together && groups.length > 1 && groups.at(-1).length === 1 && joints(groups.at(-1)[0]))
      tail = [...groups.pop()[0].blocks, ...tail];
    this.merged = tail.length > 0;
    return tail.length ? [...groups, [{ blocks: tail, pair: false }]] : groups;
  }

  group(members) {
    const rows = members.flatMap(({ blocks }) => blocks);
    this.open(rows);
    if (members.length === 1 || this.carried) this.sequential(members);
    else {
      const bracket = new Bracket(this, rows);
      for (const pivot of members) {
        const { A, E, W } = bracket.block(pivot.blocks);
        bracket.border(this.make(pivot, A), E, W);
      }
      bracket.update();
      this.backward.push(() => bracket.solve(this.x));
    }
    this.close();
  }

  open(rows) {
    this.rows = rows;
    this.inside = new Set(rows);
    const outside = new Set(rows.flatMap((b) => [...this.near.get(b)]));
    this.outside = [...outside]
      .filter((o) => !this.inside.has(o))
      .sort((a, b) => this.position.get(a) - this.position.get(b));
    const steps = [...new Set(rows.map((b) => this.step.get(b)))].sort((a, b) => a - b);
    const updates = steps.flatMap((s) => this.waiting.get(s) ?? []);
    for (const s of steps) this.waiting.delete(s);
    this.here = this.sum(updates);
    for (const b of rows) {
      for (const o of this.near.get(b)) this.assembled(b, o);
      this.assembled(b, b);
      this.assembled(b, RHS);
    }
  }

  // Children's update matrices, summed in the children's order into the largest of them.
  sum(updates) {
    if (!updates.length) return new Map();
    const size = (u) => [...u.values()].reduce((count, row) => count + row.size, 0);
    const largest = updates.reduce((best, u, k) => (size(u) > size(updates[best]) ? k : best), 0);
    const total = updates[largest];
    const found = new Map();
    updates.forEach((u, k) => {
      if (k !== largest) for (const row of u.values()) for (const [key, { at }] of row) found.set(key, at);
    });
    for (const [key, at] of found) {
      const first = this.earlier(...at);
      const value = updates.reduce((sum, u) => add(sum, u.get(first)?.get(key)?.value ?? null), null);
      if (!total.has(first)) total.set(first, new Map());
      total.get(first).set(key, { at, value });
    }
    return total;
  }

  update(i, j, value) {
    if (!value) return;
    const [low, high] = j === RHS || i <= j ? [i, j] : [j, i];
    const turned = low === i ? value : t(value);
    const key = this.key(low, high);
    if (this.atOnce || this.inside.has(low) || this.inside.has(high))
      this.matrix.set(key, add(this.matrix.get(key) ?? null, turned));
    else {
      const first = this.earlier(low, high);
      if (!this.here.has(first)) this.here.set(first, new Map());
      const row = this.here.get(first);
      row.set(key, { at: [low, high], value: add(row.get(key)?.value ?? null, turned) });
    }
    if (i !== j && j !== RHS) this.couple(i, j);
  }

  close() {
    for (const b of this.rows) {
      for (const o of this.near.get(b)) this.near.get(o).delete(b);
      this.near.set(b, new Set());
    }
    const wait = (step, update) => this.waiting.set(step, [...(this.waiting.get(step) ?? []), update]);
    const first = this.outside.length ? this.position.get(this.outside[0]) : -1;
    const passed = new Map();
    for (const [block, row] of this.here) {
      if (!row.size) continue;
      // after a pair, what is coupled is no clique, and a block may come before its first
      if (first < 0 || this.position.get(block) < first) wait(this.step.get(block), new Map([[block, row]]));
      else passed.set(block, row);
    }
    if (passed.size) wait(this.step.get(this.outside[0]), passed);
    this.here = new Map();
    this.inside = new Set();
  }

  make({ blocks, pair }, A) {
    if (pair) return new Pair(blocks, A.get(blocks[0]).get(blocks[0]));
    const sizes = blocks.map((b) => this.graph.size[b]);
    const whole = square(
      blocks.map((b) => blocks.map((o) => A.get(b).get(o))),
      sizes,
    );
    const steps = new Set(blocks.map((b) => this.step.get(b)));
    const factored = factor(whole, steps.size > 1 || whole.rows > 24);
    this.factors.push(factored);
    return new Dense(blocks, sizes, factored);
  }

  // Every pivot meets all that is coupled to it, inside the group and out, at once.
  sequential(members) {
    members.forEach((pivot, place) => {
      const { blocks } = pivot;
      const rest = members.slice(place + 1).flatMap((other) => other.blocks);
      const own = new Map(blocks.map((b) => [b, new Map(blocks.map((o) => [o, this.get(b, o)]))]));
      const made = this.make(pivot, own);
      const C = new Map();
      for (const o of [...rest, ...this.outside]) {
        const column = present(blocks.map((b) => [b, this.get(b, o)]));
        if (column.size) C.set(o, column);
      }
      const y = new Map(blocks.map((b) => [b, this.get(b, RHS)]));
      for (const [a, b] of made.coupled(C)) this.update(a, b, neg(made.quadratic(C.get(a), C.get(b), a, b)));
      for (const [o, column] of C) this.update(o, RHS, neg(made.quadratic(column, y, o, null)));
      this.backward.push(() => {
        const right = new Map(y);
        for (const [o, rows] of C) for (const [b, e] of rows) right.set(b, sub(right.get(b), mul(e, this.x.get(o))));
        for (const [b, value] of present(made.apply(right))) this.x.set(b, value);
      });
    });
  }
}
