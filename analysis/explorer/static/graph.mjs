// The block graph of equation (4), as kkt/order/sequence.py has it: a block is kind * n + body.

export const KINDS = ["pdd", "qdd", "f", "fJ", "fC", "lam"];
export const PDD = 0;
export const QDD = 1;
export const F = 2;
export const FJ = 3;
export const FC = 4;
export const LAM = 5; // multipliers of closed loops and contacts, one block each
const BLOCKS = ["", "x", "", "", "", ""]; // of any matrix, which stand where joints do
const PRIORITY = [0, 3, 1, 1, 2, 4]; // of blocks in a bracket that are no pair: pdd < f < fC < qdd < lam

export class BlockGraph {
  answer; count; kinds; n; named; plain; split; structure; ties;

  // structure: { names, parent, dof, order (tip to base), letters: TeX's, carriers: [[body, carrier], ...],
  // armature: 1 for each joint that has some, rows: of a body, 6 where it is not told, ties: [{ name, bodies, signs, rows, soft }, ...] }; of a matrix of one's own rows is 0, and pairs are the
  // blocks [[i, j], ...] that are coupled
  constructor(structure, split) {
    const n = structure.names.length;
    const { ties = [], rows = 6, pairs } = structure;
    Object.assign(this, { structure, split, n, ties, count: LAM * n + ties.length, plain: Boolean(pairs) });
    this.kinds = pairs ? BLOCKS : KINDS;
    this.answer = pairs ? "x" : "qdd";
    this.size = new Int32Array(this.count);
    this.partner = new Int32Array(this.count).fill(-1);
    this.massive = new Uint8Array(n).fill(1);
    this.geared = Uint8Array.from(structure.armature ?? { length: n }); // joints with armature
    this.carriers = new Map(structure.carriers ?? []);
    for (const carrier of this.carriers.values()) this.massive[carrier] = 0;
    for (let k = 0; k < n; k++) {
      const dof = structure.dof[k];
      this.size[k] = rows;
      this.size[n + k] = dof;
      if (split) {
        this.size[FJ * n + k] = dof;
        this.size[FC * n + k] = rows - dof;
      } else this.size[F * n + k] = rows;
      const [a, b] = split ? [QDD * n + k, FJ * n + k] : [k, F * n + k];
      this.partner[a] = b;
      this.partner[b] = a;
    }
    ties.forEach((tie, c) => (this.size[LAM * n + c] = tie.rows));
    this.edges = this._edges();
    this.blocks = [];
    for (const k of structure.order)
      for (const kind of split ? [PDD, QDD, FJ, FC] : [PDD, QDD, F])
        if (this.size[kind * n + k]) this.blocks.push(kind * n + k);
    ties.forEach((_, c) => this.blocks.push(LAM * n + c));
  }

  _edges() {
    const { n, structure, split, size } = this;
    if (structure.pairs) return structure.pairs.map(([i, j]) => [QDD * n + i, QDD * n + j]);
    const result = [];
    const add = (i, j) => size[i] && size[j] && result.push([i, j]);
    const axis = split ? FJ : F;
    for (let k = 0; k < n; k++) {
      add(QDD * n + k, axis * n + k);
      for (const kind of split ? [FJ, FC] : [F]) {
        add(k, kind * n + k);
        if (structure.parent[k] >= 0) add(structure.parent[k], kind * n + k);
      }
    }
    for (const [body, carrier] of this.carriers) add(QDD * n + body, axis * n + carrier);
    this.ties.forEach(({ bodies }, c) => bodies.forEach((k) => add(k, LAM * n + c)));
    return result;
  }

  kind(block) {
    return Math.min(LAM, Math.floor(block / this.n));
  }

  // Of multipliers, which are no body's, a number beyond all bodies'.
  body(block) {
    return block < LAM * this.n ? block % this.n : block - (LAM - 1) * this.n;
  }

  // The blocks of a body.
  own(body) {
    return this.blocks.filter((b) => this.body(b) === body);
  }

  // A body and all that hang on it.
  limb(body) {
    const found = new Set([body]);
    for (const k of this.structure.order.toReversed()) if (found.has(this.structure.parent[k])) found.add(k);
    return found;
  }

  // The bodies that a block has to do with: of multipliers those that are tied.
  bodies(block) {
    return this.kind(block) === LAM ? this.ties[block - LAM * this.n].bodies : [this.body(block)];
  }

  // The name of its body, or of its loop.
  called(block) {
    return this.kind(block) === LAM ? this.ties[block - LAM * this.n].name : this.structure.names[this.body(block)];
  }

  name(block) {
    return `${this.kinds[this.kind(block)]}_${this.called(block)}`;
  }

  find(kind, name) {
    const all = kind === "lam" ? this.ties.map((tie) => tie.name) : this.structure.names;
    const k = all.indexOf(String(name));
    const block = this.kinds.indexOf(kind) * this.n + k;
    return k < 0 || kind === "" || !this.kinds.includes(kind) || !this.size[block] ? -1 : block;
  }

  // Blocks of a bracket in the order in which they are pivots: pairs first, then pdd < f < fC < qdd.
  inside(members) {
    if (this.plain && members.length === 2 && members.every((b) => this.size[b] === 1)) return [members];
    const here = new Set(members);
    const pairs = [];
    const single = [];
    for (const b of members) {
      const mate = this.partner[b];
      if (mate < 0 || !here.has(mate)) single.push(b);
      else if (b < mate) pairs.push(this.kind(b) === PDD ? [b, mate] : [mate, b]);
    }
    single.sort((a, b) => PRIORITY[this.kind(a)] - PRIORITY[this.kind(b)]);
    return [...pairs, ...single.map((b) => [b])];
  }
}
