// The block program of an order: what an elimination does, as instructions on blocks in a row, written
// once and played with any kind of number (kkt/program/program.py).  null stands for a block of zeros.

// A use of what an instruction makes: perhaps transposed, perhaps with the other sign.
export class Ref {
  constructor(made, turned = false, sign = 1) {
    this.made = made;
    this.turned = turned;
    this.sign = sign;
  }

  get rows() {
    return this.turned ? this.made.columns : this.made.rows;
  }

  get columns() {
    return this.turned ? this.made.rows : this.made.columns;
  }

  get t() {
    return this.made.symmetric ? this : new Ref(this.made, !this.turned, this.sign);
  }

  get minus() {
    return new Ref(this.made, this.turned, -this.sign);
  }
}

export const t = (a) => a?.t ?? null;
export const neg = (a) => a?.minus ?? null;

// Writes instructions down; every method gives a reference, or null for 0.
export class Writer {
  constructor(gain, mirrors = true) {
    this.gain = gain; // updates (c/d) c^T instead of (c c^T)/d
    this.mirrors = mirrors; // a symmetric result is its upper triangle twice; else both are formed
    this.instructions = [];
    this.step = 0; // whose operations are being written, 0 before the first
  }

  emit(op, args, rows, columns, symmetric = false, info = null) {
    const { instructions, step } = this;
    const made = { op, args, rows, columns, symmetric, info, step, at: instructions.length };
    instructions.push(made);
    return new Ref(made);
  }

  input(letter, at, rows, columns) {
    const symmetric = ["M", "A", "compliance"].includes(letter);
    return this.emit("input", [], rows, columns, symmetric, [letter, at]);
  }

  eye(size) {
    return this.emit("eye", [], size, size, true);
  }

  mirror(a) {
    return !a || a.made.symmetric || !this.mirrors ? a : this.emit("mirror", [a], a.rows, a.rows, true);
  }

  stack(parts, sizes, columns) {
    if (parts.every((part) => !part)) return null;
    if (parts.length === 1) return parts[0];
    const rows = sizes.reduce((sum, size) => sum + size, 0);
    return this.emit("stack", parts, rows, columns, false, sizes);
  }

  // A symmetric matrix from its blocks, of which the upper triangle is used.
  square(blocks, sizes) {
    if (sizes.length === 1) return blocks[0][0];
    const rows = sizes.reduce((sum, size) => sum + size, 0);
    const upper = blocks.flatMap((row, r) => row.slice(r));
    return this.emit("square", upper, rows, rows, true, sizes);
  }

  rowsOf(a, first, last) {
    if (!a || (first === 0 && last === a.rows)) return a;
    return this.emit("rows", [a], last - first, a.columns, false, first);
  }

  mul(a, b, symmetric = false) {
    if (!a || !b) return null;
    if (a.made.op === "eye") return a.sign > 0 ? b : b.minus;
    if (b.made.op === "eye") return b.sign > 0 ? a : a.minus;
    return this.emit("mul", [a, b], a.rows, b.columns, symmetric && this.mirrors);
  }

  add(a, b) {
    if (!a || !b) return a ?? b ?? null;
    return this.emit("add", [a, b], a.rows, a.columns, a.made.symmetric && b.made.symmetric);
  }

  sub(a, b) {
    return this.add(a, neg(b));
  }

  divide(a, by) {
    return this.emit("divide", [a], a.rows, a.columns, a.made.symmetric, by);
  }

  // ``info`` of what follows a factor: whether it is by gain.  ``apart``: one pivot of several steps,
  // or a large one, whose entries need places of their own.
  factor(a, apart) {
    return this.emit("factor", [a], a.rows, a.rows, false, [this.gain, apart]);
  }

  forward(f, c) {
    return !c || f.rows === 1 ? c : this.emit("forward", [f, c], c.rows, c.columns, false, [this.gain]);
  }

  solve(f, c) {
    return c && this.emit("solve", [f, c], c.rows, c.columns, false, [this.gain]);
  }

  inner(f, a, b, symmetric) {
    const alike = symmetric && this.mirrors;
    return a && b ? this.emit("inner", [f, a, b], a.columns, b.columns, alike) : null;
  }

  // B with H B = 1, zero outside ``rows``, and C with H C = 0, the identity outside: split forces.
  bases(H, rows) {
    const one = (op, columns) => (columns ? this.emit(op, [H], 6, columns, false, rows) : null);
    return [one("along", rows.length), one("across", 6 - rows.length)];
  }
}

// For each instruction whether one of these references needs it.
export function needed(instructions, refs) {
  const keep = new Uint8Array(instructions.length);
  for (const ref of refs) if (ref) keep[ref.made.at] = 1;
  for (let at = keep.length - 1; at >= 0; at--)
    if (keep[at]) for (const ref of instructions[at].args) if (ref) keep[ref.made.at] = 1;
  return keep;
}

// The block that each instruction makes, of those that are kept.  ``enter`` gives the entries of an
// input, so many, row by row; ``result(instruction, operands)`` those of all others.
export function played(instructions, enter, result, keep = null) {
  const made = new Array(instructions.length).fill(null);
  for (const i of instructions) {
    if (keep && !keep[i.at]) continue;
    const { rows, columns } = i;
    const given = i.op === "input";
    const values = given ? enter(...i.info, rows * columns) : result(i, i.args.map((ref) => taken(made, ref)));
    made[i.at] = { rows, columns, values, turned: null };
  }
  return made;
}

// A block as a reference uses it.
export function taken(made, ref) {
  if (!ref) return null;
  const block = made[ref.made.at];
  const used = ref.turned ? (block.turned ??= transposed(block)) : block;
  return ref.sign > 0 ? used : { rows: used.rows, columns: used.columns, values: used.values.map((x) => -x) };
}

function transposed({ rows, columns, values }) {
  if (rows === 1 || columns === 1) return { rows: columns, columns: rows, values };
  const out = new Array(values.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) out[j * rows + i] = values[i * columns + j];
  return { rows: columns, columns: rows, values: out };
}
