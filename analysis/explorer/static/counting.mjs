// Scalar operations of a block program, zeros and ones of the robot folded away, as kkt/tape/lowering.py
// counts them.  A scalar is a signed number: 0, 1, or plus or minus the number of a place; between
// operations a place is only known to be some number, +-2.

import { OPERATIONS } from "./blocks.mjs";
import { TEN } from "./rigid.mjs";

const known = new Map(); // what operations on blocks of some pattern make and cost
const MOST = 5000; // of them

// One operation on blocks: each entry of an operand is a place of its own.
class Work {
  next = 2;
  cost = 0;

  entered(block) {
    return block && { ...block, values: block.values.map((c) => (Math.abs(c) > 1 ? Math.sign(c) * this.next++ : c)) };
  }

  fresh(sign) {
    this.cost++;
    return sign * this.next++;
  }

  whole() {
    return this.next++;
  }

  times(a, b) {
    return Math.abs(a) <= 1 || Math.abs(b) <= 1 ? a * b : this.fresh(Math.sign(a) * Math.sign(b));
  }

  plus(a, b) {
    if (a === 0 || b === 0) return a || b;
    return a === -b ? 0 : this.fresh(a < 0 && b < 0 ? -1 : 1);
  }

  over(a, b) {
    return Math.abs(b) === 1 || a === 0 ? a * b : this.fresh(Math.sign(a) * Math.sign(b));
  }

  // Results that stand for two entries, or also for one of L's column, are copied into their own places.
  apart() {
    const first = this.next;
    const seen = new Set();
    return {
      shared: (column) => column.forEach((value) => seen.add(Math.abs(value))),
      of: (value) => {
        const own = Math.abs(value) >= first && seen.has(Math.abs(value)) ? this.fresh(Math.sign(value)) : value;
        seen.add(Math.abs(own));
        return own;
      },
    };
  }
}

// The marks that an instruction makes; ``costs`` takes its operations, by its place.
export function counter(costs) {
  return (i, operands) => {
    const patterns = operands.map((block) => block && (block.text ??= block.values.join("")));
    const key = [i.op, i.symmetric, i.rows, i.columns, i.info, ...patterns].join("|");
    if (!known.has(key)) {
      if (known.size > MOST) known.clear();
      const work = new Work();
      const values = (TEN[i.op] ?? OPERATIONS[i.op])(work, i, ...operands.map((block) => work.entered(block)));
      const marks = values.map((v) => (Math.abs(v) > 1 ? 2 * Math.sign(v) : v || 0)); // no -0
      known.set(key, { marks, cost: work.cost });
    }
    const { marks, cost } = known.get(key);
    costs[i.at] = cost;
    return marks;
  };
}
