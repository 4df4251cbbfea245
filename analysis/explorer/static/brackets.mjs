// The two base pivots and a bracket of several, as kkt/program/pivot.py and bracket.py write them.

import { add, eye, forward, inner, mirror, mul, neg, rowsOf, solve, stack, sub, t } from "./counting.mjs";

export const RHS = -1; // the right-hand side, as one more column

export function present(pairs) {
  return new Map([...pairs].filter(([, value]) => value));
}

const width = (column) => Math.max(0, ...[...column.values()].map((value) => value?.columns ?? 0));

// [[X, 1], [1, 0]] with the inverse [[0, 1], [1, -X]].
export class Pair {
  constructor(blocks, X) {
    Object.assign(this, { blocks, X, lower: new Map() });
  }

  apply(column) {
    const [x, z] = this.blocks;
    const at = (b) => column.get(b) ?? null;
    return new Map([
      [x, at(z)],
      [z, sub(at(x), mul(this.X, at(z)))],
    ]);
  }

  second(o, column) {
    if (!this.lower.has(o)) this.lower.set(o, this.apply(column).get(this.blocks[1]));
    return this.lower.get(o);
  }

  quadratic(c1, c2, o1, o2) {
    const [x, z] = this.blocks;
    const [x1, z1] = [c1.get(x) ?? null, c1.get(z) ?? null];
    if (o1 === o2) {
      const whole = mul(t(z1), mul(this.X, z1), true);
      if (!x1 || !z1) return neg(whole);
      const once = mul(t(x1), z1);
      return mirror(sub(add(once, t(once)), whole));
    }
    if (o2 !== null && width(c2) > width(c1)) return t(this.quadratic(c2, c1, o2, o1));
    const upper = mul(t(x1), c2.get(z) ?? null);
    return z1 ? add(upper, mul(t(z1), this.second(o2, c2))) : upper;
  }

  coupled(C) {
    const z = this.blocks[1];
    const keys = [...C.keys()];
    const through = keys.filter((o) => C.get(o).get(z));
    const beside = keys.filter((o) => !C.get(o).get(z));
    return [
      ...through.flatMap((a, k) => through.slice(k).map((b) => [a, b])),
      ...through.flatMap((a) => beside.map((b) => [a, b])),
    ];
  }

  inverse() {
    const [x, z] = this.blocks;
    return [
      [x, z, eye(this.X?.rows ?? 6)],
      [z, z, neg(this.X)],
    ];
  }
}

// A block, or several, factored L D L^T; updates (c c^T)/d.
export class Dense {
  constructor(blocks, sizes, factored) {
    Object.assign(this, { blocks, sizes, factored, halves: new Map() });
  }

  stacked(column) {
    const parts = this.blocks.map((b) => column.get(b) ?? null);
    return stack(parts, this.sizes, parts.find(Boolean)?.columns);
  }

  split(value) {
    let start = 0;
    return new Map(this.blocks.map((b, k) => [b, rowsOf(value, start, (start += this.sizes[k]))]));
  }

  apply(column) {
    return this.split(solve(this.factored, this.stacked(column)));
  }

  half(o, column) {
    if (!this.halves.has(o)) this.halves.set(o, forward(this.factored, this.stacked(column)));
    return this.halves.get(o);
  }

  quadratic(c1, c2, o1, o2) {
    return inner(this.factored, this.half(o1, c1), this.half(o2, c2), o1 === o2);
  }

  coupled(C) {
    const keys = [...C.keys()];
    return keys.flatMap((a, k) => keys.slice(k).map((b) => [a, b]));
  }

  inverse() {
    const rows = this.split(solve(this.factored, eye(this.factored.rows)));
    return this.blocks.flatMap((b) => {
      const across = this.split(t(rows.get(b)));
      return this.blocks.filter((o) => o >= b).map((o) => [b, o, t(across.get(o))]);
    });
  }
}

// The three steps of a bracket: its inverse by itself, the couplings, the update (kkt/program/bracket.py).
export class Bracket {
  constructor(trace, rows) {
    Object.assign(this, { trace, rows, inverse: new Map(), stages: [], seen: [], z: new Map() });
    this.couples = new Map(rows.map((b) => [b, new Map()]));
    rows.forEach((b, k) => {
      for (const o of rows.slice(k + 1)) {
        const value = trace.near.get(b).has(o) ? trace.get(b, o) : null;
        if (!value) continue;
        this.couples.get(b).set(o, value);
        this.couples.get(o).set(b, t(value));
      }
    });
    this.y = new Map(rows.map((b) => [b, trace.get(b, RHS)]));
    const column = (o) => rows.filter((b) => trace.near.get(o).has(b)).map((b) => [b, trace.get(b, o)]);
    this.C = new Map(trace.outside.map((o) => [o, present(column(o))]));
  }

  inv(i, j) {
    const value = this.inverse.get(this.trace.key(i, j)) ?? null;
    return i <= j ? value : t(value);
  }

  setInv(i, j, value) {
    if (value) this.inverse.set(this.trace.key(i, j), i <= j ? value : t(value));
  }

  // The pivot's own block with the earlier stages eliminated, and its couplings E, W.
  block(blocks) {
    const { trace, seen, couples } = this;
    const E = new Map(blocks.map((b) => [b, new Map([...couples.get(b)].filter(([i]) => this.z.has(i)))]));
    const W = new Map();
    for (const b of blocks) {
      const sums = new Map();
      for (const [j, e] of E.get(b))
        for (const i of seen) {
          const product = mul(this.inv(i, j), t(e));
          if (product) sums.set(i, add(sums.get(i), product));
        }
      W.set(b, sums);
    }
    const A = new Map(blocks.map((b) => [b, new Map(blocks.map((o) => [o, trace.get(b, o)]))]));
    for (const b of blocks) {
      for (const o of blocks) {
        if (o <= b) continue;
        let value = A.get(b).get(o);
        for (const [i, e] of E.get(b)) value = sub(value, mul(e, W.get(o).get(i)));
        A.get(b).set(o, value);
        A.get(o).set(b, t(value));
      }
      let own = A.get(b).get(b);
      for (const [i, e] of E.get(b)) own = sub(own, mul(e, W.get(b).get(i), true));
      A.get(b).set(b, mirror(own));
    }
    return { A, E, W };
  }

  border(pivot, E, W) {
    const { blocks } = pivot;
    const right = new Map();
    for (const b of blocks) {
      let r = this.y.get(b);
      for (const [i, e] of E.get(b)) r = sub(r, mul(e, this.z.get(i)));
      right.set(b, r);
    }
    const s = pivot.apply(right);
    const coupled = this.seen.filter((i) => blocks.some((b) => W.get(b).has(i)));
    const left = new Map(coupled.map((i) => [i, present(blocks.map((b) => [b, t(W.get(b).get(i))]))]));
    const solved = new Map(coupled.map((i) => [i, pivot.apply(left.get(i))]));
    const grown = pivot
      .coupled(left)
      .map(([i, j]) => [i, j, add(this.inv(i, j), pivot.quadratic(left.get(i), left.get(j), i, j))]);
    for (const entry of grown) this.setInv(...entry);
    for (const i of coupled) {
      for (const b of blocks) this.z.set(i, sub(this.z.get(i), mul(W.get(b).get(i), s.get(b))));
      for (const [b, value] of solved.get(i)) this.setInv(i, b, neg(t(value)));
    }
    for (const entry of pivot.inverse()) this.setInv(...entry);
    for (const [b, value] of s) this.z.set(b, value);
    this.seen.push(...blocks);
    this.stages.push({ pivot, E, W });
  }

  update() {
    const { trace, C } = this;
    const needed = new Set([...C.values()].flatMap((column) => [...column.keys()]));
    const X = new Map();
    const solved = (o) => {
      const result = new Map();
      for (const i of this.rows)
        if (needed.has(i))
          for (const [j, value] of C.get(o)) result.set(i, add(result.get(i), mul(this.inv(i, j), value)));
      return result;
    };
    const outside = [...C.keys()];
    outside.forEach((o1, place) => {
      for (const o2 of outside.slice(place)) {
        // the inverse meets the narrower of the two couplings
        const [a, b] = width(C.get(o2)) <= width(C.get(o1)) ? [o1, o2] : [o2, o1];
        if (!X.has(b)) X.set(b, solved(b));
        let total = null;
        for (const [i, value] of C.get(a)) total = add(total, mul(t(value), X.get(b).get(i), a === b));
        trace.update(a, b, neg(a === b ? mirror(total) : total));
      }
      for (const [i, value] of C.get(o1)) trace.update(o1, RHS, neg(mul(t(value), this.z.get(i))));
    });
  }

  // x = B^-1 (y - C x_outside), stage by stage.
  solve(x) {
    if (![...this.C.values()].some((column) => column.size)) {
      for (const [b, value] of present(this.z)) x.set(b, value);
      return;
    }
    const right = new Map(this.y);
    for (const [o, column] of this.C)
      for (const [b, value] of column) right.set(b, sub(right.get(b), mul(value, x.get(o))));
    const now = new Map();
    for (const { pivot, E, W } of this.stages) {
      const u = new Map();
      for (const b of pivot.blocks) {
        let r = right.get(b);
        // tau - H b - (H M^) a': M^ is not met again
        if (W.get(b).size <= E.get(b).size + 1)
          for (const [i, value] of W.get(b)) r = sub(r, mul(t(value), right.get(i)));
        else for (const [i, value] of E.get(b)) r = sub(r, mul(value, now.get(i)));
        u.set(b, r);
      }
      const s = pivot.apply(u);
      for (const b of pivot.blocks)
        for (const [i, value] of W.get(b)) now.set(i, sub(now.get(i), mul(value, s.get(b))));
      for (const [b, value] of s) now.set(b, value);
    }
    for (const [b, value] of present(now)) x.set(b, value);
  }
}
