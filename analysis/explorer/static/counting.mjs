// Scalar operations that qdd needs, by the steps of an order: zeros and ones of the robot folded away, as
// kkt/tape/lowering.py counts them.  A scalar is a signed number: 0, 1, or plus or minus the number of
// a place; between operations a place is only known to be some number, +-2.

let now = 0; // the step whose operations are being written, 0 before the first

// What is written by ``work`` belongs to a step.
export function during(step, work) {
  const before = now;
  now = step;
  work();
  now = before;
}

export class Counted {
  constructor(rows, columns, codes, parts = [], symmetric = false) {
    Object.assign(this, { rows, columns, codes, symmetric });
    this.made = { cost: 0, parts: parts.map((part) => part.made), needed: false, step: now };
    this.eye = 0; // 1 or -1 where it is the identity, or minus that
  }

  as(rows, columns, codes) {
    const out = Object.create(Counted.prototype);
    return Object.assign(out, this, { rows, columns, codes });
  }

  get t() {
    const { rows, columns, codes } = this;
    if (this.symmetric) return this;
    const out = new Int32Array(codes.length);
    for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) out[j * rows + i] = codes[i * columns + j];
    return this.as(columns, rows, out);
  }

  get minus() {
    const out = this.as(
      this.rows,
      this.columns,
      this.codes.map((c) => -c),
    );
    out.eye = -this.eye;
    return out;
  }
}

export function eye(size) {
  const codes = new Int32Array(size * size);
  for (let i = 0; i < size; i++) codes[i * size + i] = 1;
  const out = new Counted(size, size, codes, [], true);
  out.eye = 1;
  return out;
}

// One operation on blocks: each entry of an operand is a place of its own.
class Work {
  constructor(...operands) {
    this.operands = operands;
    this.next = 2;
    this.cost = 0;
    this.places = operands.map(({ codes }) => codes.map((c) => (Math.abs(c) > 1 ? Math.sign(c) * this.next++ : c)));
  }

  fresh(sign) {
    this.cost++;
    return sign * this.next++;
  }

  mul(a, b) {
    return Math.abs(a) <= 1 || Math.abs(b) <= 1 ? a * b : this.fresh(Math.sign(a) * Math.sign(b));
  }

  add(a, b) {
    if (a === 0 || b === 0) return a || b;
    return a === -b ? 0 : this.fresh(a < 0 && b < 0 ? -1 : 1);
  }

  div(a, b) {
    if (Math.abs(b) === 1 || a === 0) return a * b;
    return this.fresh(Math.sign(a) * (Math.sign(b) || 1));
  }

  // The result, its places forgotten.
  done(rows, columns, values, symmetric = false) {
    const codes = Int32Array.from(values, (v) => (Math.abs(v) > 1 ? 2 * Math.sign(v) : v));
    const out = new Counted(rows, columns, codes, this.operands, symmetric);
    out.made.cost = this.cost;
    return out;
  }
}

function each(rows, columns, symmetric, entry) {
  const out = new Int32Array(rows * columns);
  for (let i = 0; i < rows; i++)
    for (let j = symmetric ? i : 0; j < columns; j++) {
      out[i * columns + j] = entry(i, j);
      if (symmetric) out[j * columns + i] = out[i * columns + j];
    }
  return out;
}

export function mul(a, b, symmetric = false) {
  if (!a || !b) return null;
  if (a.eye) return a.eye > 0 ? b : b.minus;
  if (b.eye) return b.eye > 0 ? a : a.minus;
  const w = new Work(a, b);
  const [A, B] = w.places;
  const values = each(a.rows, b.columns, symmetric, (i, j) => {
    let sum = 0;
    for (let k = 0; k < a.columns; k++) sum = w.add(sum, w.mul(A[i * a.columns + k], B[k * b.columns + j]));
    return sum;
  });
  return w.done(a.rows, b.columns, values, symmetric);
}

export function add(a, b) {
  if (!a || !b) return a ?? b ?? null;
  const w = new Work(a, b);
  const [A, B] = w.places;
  const symmetric = a.symmetric && b.symmetric;
  const values = each(a.rows, a.columns, symmetric, (i, j) => w.add(A[i * a.columns + j], B[i * a.columns + j]));
  return w.done(a.rows, a.columns, values, symmetric);
}

export const neg = (a) => a?.minus ?? null;
export const t = (a) => a?.t ?? null;
export const sub = (a, b) => add(a ?? null, neg(b));

export function mirror(a) {
  if (!a || a.symmetric) return a ?? null;
  return new Counted(a.rows, a.rows, each(a.rows, a.rows, true, (i, j) => a.codes[i * a.columns + j]), [a], true);
}

// L D L^T of the lower triangle: d on the diagonal, the unscaled columns c = L d below it.
// ``apart``: a joint's pivot that is one of several steps, whose entries need places of their own.
export function factor(a, apart = false) {
  const w = new Work(a);
  const n = a.rows;
  const A = w.places[0].slice();
  for (let k = 0; k < n - 1; k++) {
    const below = [];
    for (let i = k + 1; i < n; i++) if (A[i * n + k]) below.push(i);
    const column = below.map((i) => A[i * n + k]);
    const [first, seen] = [w.next, new Set(column.map(Math.abs))];
    below.forEach((row, r) => {
      for (let s = 0; s <= r; s++) {
        const at = row * n + below[s];
        let value = w.add(A[at], -w.div(w.mul(column[r], column[s]), A[k * n + k]));
        if (apart && Math.abs(value) >= first && seen.has(Math.abs(value))) value = w.fresh(Math.sign(value));
        seen.add(Math.abs(value));
        A[at] = value;
      }
    });
  }
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) A[i * n + j] = 0;
  return w.done(n, n, A);
}

function forwardIn(w, F, n, C, m) {
  for (let j = 0; j < n - 1; j++) {
    const rows = [];
    for (let i = j + 1; i < n; i++) if (F[i * n + j]) rows.push(i);
    if (!rows.length) continue;
    for (let c = 0; c < m; c++) {
      const scaled = w.div(C[j * m + c], F[j * n + j]);
      for (const i of rows) C[i * m + c] = w.add(C[i * m + c], -w.mul(F[i * n + j], scaled));
    }
  }
}

export function forward(f, c) {
  if (!c || f.rows === 1) return c ?? null;
  const w = new Work(f, c);
  forwardIn(w, w.places[0], f.rows, w.places[1], c.columns);
  return w.done(c.rows, c.columns, w.places[1]);
}

export function solve(f, c) {
  if (!c) return null;
  const w = new Work(f, c);
  const [F, X] = w.places;
  const [n, m] = [f.rows, c.columns];
  forwardIn(w, F, n, X, m);
  for (let j = n - 1; j >= 0; j--)
    for (let k = 0; k < m; k++) {
      for (let i = j + 1; i < n; i++)
        if (F[i * n + j]) X[j * m + k] = w.add(X[j * m + k], -w.mul(F[i * n + j], X[i * m + k]));
      X[j * m + k] = w.div(X[j * m + k], F[j * n + j]);
    }
  return w.done(n, m, X);
}

export function inner(f, y1, y2, symmetric = false) {
  if (!y1 || !y2) return null;
  const w = new Work(f, y1, y2);
  const [F, A, B] = w.places;
  const [n, p, q] = [f.rows, y1.columns, y2.columns];
  const values = each(p, q, symmetric, (i, j) => {
    let sum = 0;
    for (let k = 0; k < n; k++) sum = w.add(sum, w.div(w.mul(A[k * p + i], B[k * q + j]), F[k * n + k]));
    return sum;
  });
  return w.done(p, q, values, symmetric);
}

// -- free of arithmetic ---------------------------------------------------------------------------

export function stack(parts, sizes, columns) {
  if (parts.every((part) => !part)) return null;
  if (parts.length === 1) return parts[0];
  const codes = parts.flatMap((part, k) => (part ? [...part.codes] : new Array(sizes[k] * columns).fill(0)));
  const rows = sizes.reduce((a, b) => a + b, 0);
  return new Counted(rows, columns, Int32Array.from(codes), parts.filter(Boolean));
}

export function rowsOf(a, first, last) {
  if (!a || (first === 0 && last === a.rows)) return a ?? null;
  return new Counted(last - first, a.columns, a.codes.slice(first * a.columns, last * a.columns), [a]);
}

// A symmetric matrix from its blocks, of which the upper triangle is used.
export function square(blocks, sizes) {
  if (sizes.length === 1) return blocks[0][0];
  const starts = sizes.map((_, k) => sizes.slice(0, k).reduce((a, b) => a + b, 0));
  const n = starts.at(-1) + sizes.at(-1);
  const codes = new Int32Array(n * n);
  const parts = [];
  for (let r = 0; r < sizes.length; r++)
    for (let c = r; c < sizes.length; c++) {
      const block = blocks[r][c];
      if (!block) continue;
      parts.push(block);
      for (let i = 0; i < sizes[r]; i++)
        for (let j = r === c ? i : 0; j < sizes[c]; j++) {
          const [row, column] = [starts[r] + i, starts[c] + j];
          codes[row * n + column] = codes[column * n + row] = block.codes[i * sizes[c] + j];
        }
    }
  return new Counted(n, n, codes, parts, true);
}

// B with H B = 1, zero outside ``rows``, and C with H C = 0, the identity outside: split forces.
export function bases(H, rows) {
  const beside = [0, 1, 2, 3, 4, 5].filter((i) => !rows.includes(i));
  const n = rows.length;
  const gauss = (w, columns) => {
    const A = w.places[0];
    const at = (i, j) => i * 6 + rows[j];
    const [m, B] = [columns.length / n, columns];
    for (let j = 0; j < n; j++)
      for (let i = j + 1; i < n; i++) {
        if (!A[at(i, j)]) continue;
        const ratio = w.div(A[at(i, j)], A[at(j, j)]);
        for (let k = j + 1; k < n; k++) A[at(i, k)] = w.add(A[at(i, k)], -w.mul(ratio, A[at(j, k)]));
        for (let k = 0; k < m; k++) B[i * m + k] = w.add(B[i * m + k], -w.mul(ratio, B[j * m + k]));
      }
    for (let j = n - 1; j >= 0; j--)
      for (let k = 0; k < m; k++) {
        for (let i = j + 1; i < n; i++) B[j * m + k] = w.add(B[j * m + k], -w.mul(A[at(j, i)], B[i * m + k]));
        B[j * m + k] = w.div(B[j * m + k], A[at(j, j)]);
      }
    return B;
  };
  const spread = (w, solved, width, sign, unit) => {
    const out = new Int32Array(6 * width);
    rows.forEach((row, r) => {
      for (let c = 0; c < width; c++) out[row * width + c] = sign * solved[r * width + c];
    });
    if (unit) beside.forEach((row, c) => (out[row * width + c] = 1));
    return w.done(6, width, out);
  };
  const along = new Work(H);
  const B = spread(along, gauss(along, eye(n).codes.slice()), n, 1, false);
  if (!beside.length) return [B, null];
  const across = new Work(H);
  const right = Int32Array.from(rows.flatMap((_, i) => beside.map((j) => across.places[0][i * 6 + j])));
  return [B, spread(across, gauss(across, right), beside.length, -1, true)];
}

// Operations of all that some values are made of, each once, by the step that wrote them.
export function costsOf(values, steps) {
  const waiting = values.map((value) => value.made);
  const costs = new Array(steps + 1).fill(0);
  while (waiting.length) {
    const made = waiting.pop();
    if (made.needed) continue;
    made.needed = true;
    costs[made.step] += made.cost;
    waiting.push(...made.parts);
  }
  return costs;
}
