// The remaining matrix during elimination (kkt/program/bracket.py).  Updates of a group wait apart from
// the matrix's own entries, until a group that they touch is opened; children's updates are summed
// first, and the matrix's own entry is added last.  With ``atOnce`` every update goes to the matrix.

import { neg, t } from "./program.mjs";

export const RHS = -1; // the right-hand side, as one more column

export class Fronts {
  atOnce; count; position; step; write;

  // position, step: of each block in the order
  constructor(write, graph, position, step, atOnce) {
    Object.assign(this, { write, count: graph.count, position, step, atOnce });
    this.matrix = new Map(); // key -> reference
    this.near = new Map(graph.blocks.map((b) => [b, new Set()])); // coupled blocks not yet eliminated
    this.waiting = new Map(); // step -> update matrices
    this.here = new Map(); // update matrix of the open group: first block to go -> key -> { at, value }
    this.passed = new Map(); // where an update comes from: instruction -> { c, N, joint }
    this.updates = null;
    this.parts = new Map(); // updates of diagonal blocks by children, apart
    this.terms = new Map(); // of diagonal blocks: own ones and those of children
  }

  key(i, j) {
    if (j === RHS) return -1 - i;
    return Math.min(i, j) * this.count + Math.max(i, j);
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

  earlier(i, j) {
    return j === RHS || this.position.get(i) < this.position.get(j) ? i : j;
  }

  // Block (i, j) as it stands, updates of earlier steps added last; i or j in the open group.
  get(i, j) {
    const value = this.assembled(i, j);
    return j !== RHS && i > j ? t(value) : value;
  }

  assembled(i, j) {
    const key = this.key(i, j);
    const row = this.here.get(this.earlier(i, j));
    const update = row?.get(key);
    const own = this.matrix.get(key) ?? null;
    if (!update) return own;
    row.delete(key);
    if (own && i === j) this.terms.set(i, [own, update.value]);
    const total = this.write.add(own, update.value);
    this.matrix.set(key, total);
    return total;
  }

  // Block (i, j) of what is left, i <= j or j = RHS, as the terms of its sum.
  standing(i, j) {
    const key = this.key(i, j);
    const first = this.earlier(i, j);
    this.updates ??= [...this.waiting.values()].flat();
    const updates = this.updates.map((update) => update.get(first)?.get(key)?.value);
    return [this.matrix.get(key), ...updates].filter(Boolean);
  }

  // The terms of diagonal block i; ``apart``: the children's updates kept from each other as well.
  termsOf(i, apart) {
    const terms = this.terms.get(i) ?? [this.get(i, i)].filter(Boolean);
    return apart && this.parts.has(i) ? [...terms.slice(0, -1), ...this.parts.get(i)] : terms;
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
    this.parts = new Map();
    for (const b of rows) {
      const own = updates.map((update) => update.get(b)?.get(this.key(b, b))?.value).filter(Boolean);
      if (own.length) this.parts.set(b, own);
    }
    this.here = this.sum(updates);
    for (const b of rows) for (const o of [...this.near.get(b), b, RHS]) this.assembled(b, o);
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
      const value = updates.reduce((sum, u) => this.write.add(sum, u.get(first)?.get(key)?.value), null);
      if (!total.has(first)) total.set(first, new Map());
      total.get(first).set(key, { at, value });
    }
    return total;
  }

  // Subtract from block (i, j) of what is left.
  subtract(i, j, value) {
    if (!value) return;
    const [low, high] = j === RHS || i <= j ? [i, j] : [j, i];
    const turned = neg(low === i ? value : t(value));
    const key = this.key(low, high);
    if (this.atOnce || this.inside.has(low) || this.inside.has(high))
      this.matrix.set(key, this.write.add(this.matrix.get(key), turned));
    else {
      const first = this.earlier(low, high);
      if (!this.here.has(first)) this.here.set(first, new Map());
      const row = this.here.get(first);
      row.set(key, { at: [low, high], value: this.write.add(row.get(key)?.value, turned) });
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
    this.updates = null; // all that wait, once somebody asks
  }
}
