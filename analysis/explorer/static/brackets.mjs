// The two base pivots and a bracket of several, as kkt/program/bracket.py writes them.

import { RHS } from "./fronts.mjs";
import { neg, t } from "./program.mjs";

export function present(pairs) {
  return new Map([...pairs].filter(([, value]) => value));
}

const width = (column) => Math.max(0, ...[...column.values()].map((value) => value?.columns ?? 0));

// What is made once for each coupled block.
function once(made, o, make) {
  if (!made.has(o)) made.set(o, make());
  return made.get(o);
}

// [[X, 1], [1, 0]] with the inverse [[0, 1], [1, -X]]: no arithmetic happens on the 1.
export class Pair {
  X; blocks; lower; unit; write;

  constructor(write, blocks, X) {
    Object.assign(this, { write, blocks, X, lower: new Map() });
  }

  apply(column) {
    const [x, z] = this.blocks;
    const w = this.write;
    const at = (b) => column.get(b) ?? null;
    return new Map([
      [x, at(z)],
      [z, w.sub(at(x), w.mul(this.X, at(z)))],
    ]);
  }

  quadratic(c1, c2, o1, o2) {
    const [x, z] = this.blocks;
    const w = this.write;
    const [x1, z1] = [c1.get(x) ?? null, c1.get(z) ?? null];
    if (o1 === o2) {
      const whole = w.mul(t(z1), w.mul(this.X, z1), true);
      if (!x1 || !z1) return neg(whole);
      const cross = w.mul(t(x1), z1);
      return w.mirror(w.sub(w.add(cross, t(cross)), whole));
    }
    // X meets the narrower of the two columns
    if (o2 !== RHS && width(c2) > width(c1)) return t(this.quadratic(c2, c1, o2, o1));
    const upper = w.mul(t(x1), c2.get(z) ?? null);
    return z1 ? w.add(upper, w.mul(t(z1), once(this.lower, o2, () => this.apply(c2).get(z)))) : upper;
  }

  // Blocks coupled through z with each other and with those through x; never x with x.
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
      [x, z, this.write.eye(this.X?.rows ?? 6)],
      [z, z, neg(this.X)],
    ];
  }
}

// A block, or several, factored L D L^T; updates (c c^T)/d, or (c/d) c^T by gain.
export class Dense {
  blocks; factored; halves; sizes; unit; write;

  constructor(write, blocks, sizes, factored) {
    Object.assign(this, { write, blocks, sizes, factored, halves: new Map() });
  }

  stacked(column) {
    const parts = this.blocks.map((b) => column.get(b) ?? null);
    return this.write.stack(parts, this.sizes, parts.find(Boolean)?.columns);
  }

  split(value) {
    let start = 0;
    return new Map(this.blocks.map((b, k) => [b, this.write.rowsOf(value, start, (start += this.sizes[k]))]));
  }

  apply(column) {
    return this.split(this.write.solve(this.factored, this.stacked(column)));
  }

  quadratic(c1, c2, o1, o2) {
    const { write: w, factored: f, halves } = this;
    if (w.gain) {
      const solved = once(halves, o1, () => w.solve(f, this.stacked(c1)));
      return w.mul(t(solved), this.stacked(c2), o1 === o2);
    }
    const half = (o, column) => once(halves, o, () => w.forward(f, this.stacked(column)));
    return w.inner(f, half(o1, c1), half(o2, c2), o1 === o2);
  }

  coupled(C) {
    const keys = [...C.keys()];
    return keys.flatMap((a, k) => keys.slice(k).map((b) => [a, b]));
  }

  inverse() {
    const rows = this.split(this.write.solve(this.factored, this.write.eye(this.factored.rows)));
    return this.blocks.flatMap((b) => {
      const across = this.split(t(rows.get(b)));
      return this.blocks.filter((o) => o >= b).map((o) => [b, o, t(across.get(o))]);
    });
  }
}

// The three steps of a bracket: its inverse by itself, the couplings, the update.
export class Bracket {
  fronts; inverse; rows; seen; stages; write; z;

  constructor(write, fronts, rows, { accumulate = "assembled", rank_update = "outer" }) {
    Object.assign(this, { write, fronts, rows, inverse: new Map(), stages: [], seen: [], z: new Map() });
    this.unassembled = accumulate !== "assembled";
    this.projected = accumulate === "projected";
    this.inChild = ["projected", "child_frame"].includes(accumulate);
    this.joseph = rank_update === "joseph";
    this.terms = new Map(); // -X of a pair, summands kept apart
    this.couples = new Map(rows.map((b) => [b, new Map()]));
    rows.forEach((b, k) => {
      for (const o of rows.slice(k + 1)) {
        const value = fronts.near.get(b).has(o) ? fronts.get(b, o) : null;
        if (!value) continue;
        this.couples.get(b).set(o, value);
        this.couples.get(o).set(b, t(value));
      }
    });
    this.y = new Map(rows.map((b) => [b, fronts.get(b, RHS)]));
    const column = (o) => rows.filter((b) => fronts.near.get(o).has(b)).map((b) => [b, fronts.get(b, o)]);
    this.C = new Map(fronts.outside.map((o) => [o, present(column(o))]));
  }

  inv(i, j) {
    const value = this.inverse.get(this.fronts.key(i, j)) ?? null;
    return i <= j ? value : t(value);
  }

  setInv(i, j, value) {
    if (value) this.inverse.set(this.fronts.key(i, j), i <= j ? value : t(value));
  }

  // -- step 1 -----------------------------------------------------------------------------------

  // The pivot's own block with the earlier stages eliminated, and its couplings E, W.
  block(blocks) {
    const { write: w, seen, couples } = this;
    const E = new Map(blocks.map((b) => [b, new Map([...couples.get(b)].filter(([i]) => this.z.has(i)))]));
    const W = new Map();
    for (const b of blocks) {
      const sums = new Map();
      for (const [j, e] of E.get(b))
        for (const i of seen) {
          const product = w.mul(this.inv(i, j), t(e));
          if (product) sums.set(i, w.add(sums.get(i), product));
        }
      W.set(b, sums);
    }
    const A = new Map(blocks.map((b) => [b, new Map(blocks.map((o) => [o, this.fronts.get(b, o)]))]));
    for (const b of blocks) {
      for (const o of blocks) {
        if (o <= b) continue;
        let value = A.get(b).get(o);
        for (const [i, e] of E.get(b)) value = w.sub(value, w.mul(e, W.get(o).get(i)));
        A.get(b).set(o, value);
        A.get(o).set(b, t(value));
      }
      A.get(b).set(b, this.diagonal(A.get(b).get(b), E.get(b), W.get(b)));
    }
    return { A, E, W };
  }

  // A - E (inverse so far) E^T for one block.
  diagonal(A, E, W) {
    const w = this.write;
    for (const [i, e] of E) {
      const apart = (E.size === 1 && this.terms.get(i)) || [];
      if (apart.length > 1) for (const term of apart) A = w.sub(A, this.quadratic(e, term));
      else A = w.sub(A, w.mul(e, W.get(i), true));
    }
    return w.mirror(A);
  }

  // H (term) H^T; of a child's -M~ by its factors, projected or in the child's own frame.
  quadratic(H, term) {
    const w = this.write;
    const child = this.inChild ? this.fronts.passed.get(term.made) : null;
    if (!child) return w.mul(w.mul(H, term), t(H), true);
    let seen;
    if (this.projected) {
      const { joint } = child;
      const gram = w.mul(joint.t, joint, true);
      if (joint.rows === joint.columns || !gram) return null; // a free joint passes nothing on
      seen = w.mul(child.c, t(H));
      seen = w.sub(seen, w.mul(joint, w.solve(w.factor(gram, false), w.mul(joint.t, seen))));
    } else seen = w.mul(child.c, t(H));
    return w.mul(t(w.mul(child.N, seen)), seen, true);
  }

  // The factors of the update of (o, o), where one joint of the bracket is behind it.
  passedOn(o) {
    const column = this.C.get(o);
    if (column.size !== 1) return null;
    const [[f, c]] = column;
    const N = this.inv(f, f);
    const alone = (b) => this.couples.get(b).size === 1 && this.couples.get(b).has(f);
    for (const b of this.rows)
      if (N && alone(b) && ![...this.C.values()].some((own) => own.has(b)) && !this.fronts.get(b, b))
        return { c, N, joint: this.couples.get(f).get(b) };
    return null;
  }

  // Add a pivot to the inverse, and to the solution for the right-hand side.
  border(pivot, E, W) {
    const { write: w, terms } = this;
    const { blocks } = pivot;
    const right = new Map();
    for (const b of blocks) {
      let r = this.y.get(b);
      for (const [i, e] of E.get(b)) r = w.sub(r, w.mul(e, this.z.get(i)));
      right.set(b, r);
    }
    const s = pivot.apply(right);
    const coupled = this.seen.filter((i) => blocks.some((b) => W.get(b).has(i)));
    const left = new Map(coupled.map((i) => [i, present(blocks.map((b) => [b, t(W.get(b).get(i))]))]));
    const solved = new Map(coupled.map((i) => [i, pivot.apply(left.get(i))]));
    const T = this.joseph ? this.projector(pivot, E, solved) : new Map();
    const grown = pivot.coupled(left).map(([i, j]) => {
      if (T.has(i) && T.has(j)) return [i, j, this.congruent(T.get(i), T.get(j), i === j)];
      return [i, j, w.add(this.inv(i, j), pivot.quadratic(left.get(i), left.get(j), i, j))];
    });
    for (const entry of grown) this.setInv(...entry);
    for (const i of coupled) {
      terms.delete(i);
      for (const b of blocks) this.z.set(i, w.sub(this.z.get(i), w.mul(W.get(b).get(i), s.get(b))));
      for (const [b, value] of solved.get(i)) this.setInv(i, b, neg(t(value)));
    }
    for (const entry of pivot.inverse()) this.setInv(...entry);
    if (this.unassembled && pivot instanceof Pair && !E.get(blocks[0]).size)
      terms.set(blocks[1], this.fronts.termsOf(blocks[0], this.inChild).map(neg));
    for (const [b, value] of s) this.z.set(b, value);
    this.seen.push(...blocks);
    this.stages.push({ pivot, E, W });
  }

  // Joseph's form: 1 + N E^T D^-1 E, block by block; empty for a pivot that is no joint.
  projector(pivot, E, solved) {
    const { write: w, fronts } = this;
    const { blocks } = pivot;
    const T = new Map();
    if (pivot instanceof Pair || blocks.some((b) => blocks.some((o) => fronts.get(b, o)))) return T;
    for (const i of new Set(blocks.flatMap((b) => [...E.get(b).keys()]))) {
      const row = new Map();
      for (const b of blocks) for (const [k, e] of E.get(b)) row.set(k, k === i ? w.eye(e.columns) : null);
      for (const b of blocks)
        for (const [k, e] of E.get(b)) row.set(k, w.add(row.get(k), w.mul(t(solved.get(i).get(b)), e)));
      T.set(i, present(row));
    }
    return T;
  }

  // Block (i, j) of T N T^T, N the inverse so far.
  congruent(Ti, Tj, alike) {
    const w = this.write;
    let total = null;
    for (const [k, left] of Ti)
      for (const [m, right] of Tj) total = w.add(total, w.mul(left, w.mul(this.inv(k, m), t(right)), alike));
    return alike ? w.mirror(total) : total;
  }

  // -- steps 2 and 3 ----------------------------------------------------------------------------

  update() {
    const { write: w, fronts, C } = this;
    const rows = new Set([...C.values()].flatMap((column) => [...column.keys()]));
    const X = new Map();
    const solved = (o) => {
      const result = new Map();
      for (const i of this.rows)
        if (rows.has(i))
          for (const [j, value] of C.get(o)) result.set(i, w.add(result.get(i), w.mul(this.inv(i, j), value)));
      return result;
    };
    const outside = [...C.keys()];
    outside.forEach((o1, place) => {
      for (const o2 of outside.slice(place)) {
        // the inverse meets the narrower of the two couplings
        const [a, b] = width(C.get(o2)) <= width(C.get(o1)) ? [o1, o2] : [o2, o1];
        const own = once(X, b, () => solved(b));
        let total = null;
        for (const [i, value] of C.get(a)) total = w.add(total, w.mul(t(value), own.get(i), a === b));
        if (a === b) total = w.mirror(total);
        const child = total && a === b && this.inChild ? this.passedOn(a) : null;
        if (child) fronts.passed.set(total.made, child);
        fronts.subtract(a, b, total);
      }
      for (const [i, value] of C.get(o1)) fronts.subtract(o1, RHS, w.mul(t(value), this.z.get(i)));
    });
  }

  // -- backward ---------------------------------------------------------------------------------

  // x = B^-1 (y - C x_outside), stage by stage.
  solve(x) {
    const w = this.write;
    if (![...this.C.values()].some((column) => column.size)) {
      for (const [b, value] of present(this.z)) x.set(b, value);
      return;
    }
    const right = new Map(this.y);
    for (const [o, column] of this.C)
      for (const [b, value] of column) right.set(b, w.sub(right.get(b), w.mul(value, x.get(o))));
    const now = new Map();
    for (const { pivot, E, W } of this.stages) {
      const u = new Map();
      for (const b of pivot.blocks) {
        let r = right.get(b);
        // tau - H b - (H M^) a': M^ is not met again
        if (W.get(b).size <= E.get(b).size + 1)
          for (const [i, value] of W.get(b)) r = w.sub(r, w.mul(t(value), right.get(i)));
        else for (const [i, value] of E.get(b)) r = w.sub(r, w.mul(value, now.get(i)));
        u.set(b, r);
      }
      const s = pivot.apply(u);
      for (const b of pivot.blocks)
        for (const [i, value] of W.get(b)) now.set(i, w.sub(now.get(i), w.mul(value, s.get(b))));
      for (const [b, value] of s) now.set(b, value);
    }
    for (const [b, value] of present(now)) x.set(b, value);
  }
}
