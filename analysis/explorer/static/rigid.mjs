// Composite inertias as the ten numbers that they are, by which operations are counted: mass m, first
// moment h and moments J about the joint (kkt/tape/rigid.py).  Numbers are played with whole blocks.

import { OPERATIONS } from "./blocks.mjs";
import { Ref } from "./program.mjs";

const CROSS = [[2, 1], [0, 2], [1, 0]]; // places of h in h~, and of p in p~
const AXES = [0, 1, 2];
const ABOVE = [[0, 1], [0, 2], [1, 2]];
const SQUARE = { rows: 3, columns: 3 };

const part = (A, top, left) => AXES.flatMap((r) => AXES.map((c) => A.values[(top + r) * A.columns + left + c]));
const product = (s, shape, a, b) =>
  OPERATIONS.mul(s, shape, { rows: 3, columns: 3, values: a }, { rows: 3, columns: shape.columns, values: b });
const turned = (values) => AXES.flatMap((r) => AXES.map((c) => values[3 * c + r]));
const momentOf = (M) => CROSS.map(([r, c]) => M.values[6 * r + 3 + c]);

// The block [[J, h~], [-h~, m 1]] of J's upper triangle.
function assembled(J, h, m) {
  const out = new Array(36).fill(0);
  for (const r of AXES) for (const c of AXES) out[6 * r + c] = J[3 * Math.min(r, c) + Math.max(r, c)];
  CROSS.forEach(([r, c], k) => {
    out[6 * r + 3 + c] = out[6 * (3 + c) + r] = h[k];
    out[6 * c + 3 + r] = out[6 * (3 + r) + c] = -h[k];
  });
  for (const k of AXES) out[7 * (3 + k)] = m;
  return out;
}

// p of B = p~ R, each entry from the cheaper of the two places of p~ = B R^T.
function arm(s, R, B) {
  const row = (values, r) => values.slice(3 * r, 3 * r + 3);
  const along = (work, a, b) => OPERATIONS.mul(work, { rows: 1, columns: 1 }, { columns: 3, values: a }, { columns: 1, values: b })[0];
  return CROSS.map(([r, c]) => {
    const [one, other] = [[row(B, r), row(R, c)], [row(B, c), row(R, r)]];
    return costs(s, along, ...other) < costs(s, along, ...one) ? -along(s, ...other) : along(s, ...one);
  });
}

function costs(s, does, ...operands) {
  const trial = Object.assign(new s.constructor(), { next: s.next });
  does(trial, ...operands);
  return trial.cost;
}

// The inertia in the parent's frame, by ten numbers.
function shifted(s, Phi, M) {
  const [R, B, h, m] = [part(Phi, 0, 0), part(Phi, 0, 3), momentOf(M), M.values[21]];
  const p = arm(s, R, B);
  const g = product(s, { rows: 3, columns: 1 }, R, h);
  const carried = g.map((x, k) => s.plus(x, s.times(m, p[k])));
  const J = product(s, { ...SQUARE, symmetric: true }, R, product(s, SQUARE, part(M, 0, 0), turned(R)));
  const own = p.map((x, k) => s.times(x, s.plus(carried[k], g[k])));
  for (const k of AXES) J[4 * k] = s.plus(J[4 * k], s.plus(own[k ? 0 : 1], own[k < 2 ? 2 : 1]));
  for (const [i, j] of ABOVE)
    J[3 * i + j] = s.plus(J[3 * i + j], -s.plus(s.times(carried[i], p[j]), s.times(p[i], g[j])));
  return assembled(J, carried, m);
}

// Phi M Phi^T as a product of blocks.
function plain(s, Phi, M) {
  const back = { rows: 6, columns: 6, values: AXES.concat(3, 4, 5).flatMap((r, _, all) => all.map((c) => Phi.values[6 * c + r])) };
  const half = { rows: 6, columns: 6, values: OPERATIONS.mul(s, { rows: 6, columns: 6 }, M, back) };
  return OPERATIONS.mul(s, { rows: 6, columns: 6, symmetric: true }, Phi, half);
}

export const TEN = {
  shift: (s, _, Phi, M) => (costs(s, plain, Phi, M) < costs(s, shifted, Phi, M) ? plain : shifted)(s, Phi, M),

  join(s, _, A, B) {
    const J = part(A, 0, 0);
    const other = part(B, 0, 0);
    for (const r of AXES) for (let c = r; c < 3; c++) J[3 * r + c] = s.plus(J[3 * r + c], other[3 * r + c]);
    const right = momentOf(B);
    return assembled(J, momentOf(A).map((x, k) => s.plus(x, right[k])), s.plus(A.values[21], B.values[21]));
  },
};

// The same instructions, those from ten numbers whose result is a rigid inertia.
export function byTen(instructions) {
  const rigid = new Set();
  const known = (ref) => ref !== null && ref.sign > 0 && rigid.has(ref.made.at);
  return instructions.map((i) => {
    const [a, b] = i.args;
    let found = null;
    if (i.op === "input" && i.info[0] === "M" && i.rows === 6) found = i;
    else if (i.op === "add" && i.symmetric && known(a) && known(b)) found = { ...i, op: "join" };
    else if (i.op === "mul" && i.symmetric) {
      const M = carriedBy(a, b, rigid);
      if (M) found = { ...i, op: "shift", args: [new Ref(a.made), new Ref(M.made)] };
    }
    if (found) rigid.add(i.at);
    return found ?? i;
  });
}

// M where a product is Phi (M Phi^T) of a rigid M, else null.
function carriedBy(left, right, rigid) {
  if (!left || !right || left.turned || right.turned) return null;
  const [outer, inner] = [left.made, right.made];
  if (outer.op !== "input" || outer.info[0] !== "Phi" || inner.op !== "mul") return null;
  const [M, Phi] = inner.args;
  const positive = left.sign * right.sign * M.sign * Phi.sign > 0;
  return rigid.has(M.made.at) && positive && Phi.made === outer && Phi.turned ? M : null;
}
