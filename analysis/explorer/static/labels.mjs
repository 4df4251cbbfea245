// Names of blocks as TeX, in the notation of Ascher, Pai & Cloutier 1996, section 2: the rules of
// analysis/figures/labels.py, at any moment of an elimination.

import { F, FC, FJ, LAM, PDD, QDD } from "./graph.mjs";

const short = (name) => /^([0-9]+|[A-Za-z0-9])$/.test(name);

export class Labels {
  engine; graph; structure; tex;

  // ``time``: base pivots done, a bracket being several of them; all where it is left out
  constructor(engine, time = Infinity) {
    const { graph } = engine;
    Object.assign(this, { engine, graph, structure: graph.structure, tex: graph.structure.letters });
    this.bodyOf = new Map([...graph.carriers].map(([body, carrier]) => [carrier, body]));
    this.own = this.structure.order.filter((k) => !this.bodyOf.has(k));
    this.numbered = !graph.named && !this.own.every((k) => short(this.structure.names[k]));
    this.subscript = new Map(
      this.own.map((k, i) => [k, this.numbered ? String(i + 1) : this.structure.names[k]]),
    );
    for (const [carrier, body] of this.bodyOf) this.subscript.set(carrier, this.subscript.get(body));
    this.place = new Map(); // of each eliminated block, in the order of elimination
    this.order = [];
    this.changes = new Map(); // key -> pivots that have added to it
    this.first = new Set(); // blocks x of pairs (x, z)
    let done = 0;
    for (const record of engine.steps)
      record.pivots.forEach((pivot, at) => {
        if (done >= time) return;
        done += 1;
        if (pivot.length === 2) this.first.add(pivot[0]);
        for (const b of pivot) {
          this.place.set(b, this.order.length);
          this.order.push(b);
        }
        for (const key of record.updatesOf[at]) this.changes.set(key, (this.changes.get(key) ?? 0) + 1);
      });
    this._lineage();
  }

  _lineage() {
    const { n, structure } = this.graph;
    this.above = [];
    this.below = Array.from({ length: n }, () => []);
    const up = (k) => this.bodyOf.get(k) ?? structure.parent[k];
    for (let k = 0; k < n; k++) {
      this.above.push([]);
      for (let a = up(k); a >= 0; a = up(a)) this.above[k].push(a);
      for (const a of this.above[k]) this.below[a].push(k);
    }
  }

  // Numbers beside names, as "1 = hand, 2 = arm"; empty where names are used.
  key() {
    if (!this.numbered) return "";
    return this.own.map((k) => `${this.subscript.get(k)} = ${this.structure.names[k]}`).join(", ");
  }

  unknown(block) {
    if (this.graph.kind(block) === LAM) return `${this.tex.multiplier}_{${this._loop(block)}}`;
    const k = this.graph.body(block);
    const s = this.subscript.get(k);
    const { pdd, qdd, f } = this.tex;
    const kind = this.graph.kind(block);
    const part = { [FJ]: "^{J}", [FC]: "^{C}" }[kind] ?? "";
    return `${[pdd, qdd, f, f, f][kind]}${this.bodyOf.has(k) ? "'" : ""}_{${s}}${part}`;
  }

  // A limb that is folded, by the body that all of it hangs on.
  limb(body) {
    return `${this.subscript.get(body)}…`;
  }

  // The block in row i, column j; empty where it has no name in the paper.
  cell(i, j) {
    if (this.graph.plain) return this._block(i, j);
    if (i === j) return this._diagonal(i);
    const key = this.engine.key(i, j);
    const made = this.engine.made.get(key);
    const changes = this.changes.get(key) ?? 0;
    if (made === 0) return changes ? "" : this._entry(i, j);
    if (this._metLoop(this._placeOf(i) <= this._placeOf(j) ? i : j)) return "";
    const kinds = [this.graph.kind(i), this.graph.kind(j)].sort();
    if (kinds[0] === QDD && kinds[1] === QDD) return this._inertia(i, j);
    if (kinds[0] === PDD && kinds[1] === QDD && changes === 1) return this._projected(i, j);
    return "";
  }

  // Of a matrix of one's own: A_ij where nothing has changed it.
  _block(i, j) {
    const made = i === j ? this.engine.diagonal[i] : this.engine.made.get(this.engine.key(i, j));
    if (this.changes.has(this.engine.key(i, j))) return "";
    if (made !== 0) return i === j ? "0" : "";
    return `${this.tex.M}_{${this._two(this.graph.body(i), this.graph.body(j))}}`;
  }

  // -- as entered -------------------------------------------------------------------------------

  _entry(i, j) {
    const [kind, other] = [this.graph.kind(i), this.graph.kind(j)];
    if (kind === LAM) return this._tie(i, j);
    if (other === LAM) return `${this._tie(j, i)}^{*}`;
    if (kind >= F) return adjoint(this._entry(j, i)); // the row of f holds the adjoint of its column
    const [k, c] = [this.graph.body(i), this.graph.body(j)];
    if (kind === QDD) return other === F ? `${this.tex.H}_{${this.subscript.get(k)}}` : "I";
    const letter = { [FJ]: this.tex.along, [FC]: this.tex.across }[other];
    const basis = letter ? `${letter}_{${this.subscript.get(c)}}` : "";
    return k === c ? basis || "I" : `-${this._phi(k, c)}${basis}`;
  }

  // G of a loop on one of its bodies, with its sign.
  _tie(block, body) {
    const { bodies, signs } = this.graph.ties[block - LAM * this.graph.n];
    const sign = signs[bodies.indexOf(body)] < 0 ? "-" : "";
    return `${sign}${this.tex.G}_{${this._loop(block)},${this.subscript.get(body)}}`;
  }

  // The subscript of a loop: its name where all are short, else its number.
  _loop(block) {
    const { ties, n } = this.graph;
    const c = block - LAM * n;
    return ties.every(({ name }) => short(name)) ? ties[c].name : String(c + 1);
  }

  _phi(parent, child) {
    return `${this.tex.Phi}_{${this._two(parent, child)}}`;
  }

  _two(a, b) {
    const [x, y] = [this.subscript.get(a), this.subscript.get(b)];
    return `${x}${x.length === 1 && y.length === 1 ? "" : ","}${y}`;
  }

  // -- as eliminated ----------------------------------------------------------------------------

  _diagonal(i) {
    const [k, kind] = [this.graph.body(i), this.graph.kind(i)];
    const updated = this.changes.has(this.engine.key(i, i));
    const own = kind === PDD ? this.graph.massive[k] : kind === QDD && this.graph.geared[k];
    if (kind === LAM) return this.engine.diagonal[i] < 0 ? "0" : "";
    if (!own && !updated) return "0";
    if (updated && this._metLoop(i)) return "";
    if (kind === PDD) return updated ? this._articulated(i) : this._mass(this.tex.M, k);
    if (kind !== QDD) return "";
    if (!updated) return this._mass(this.tex.A, k);
    const gone = this._goneBefore(i);
    const joint = (c) => QDD * this.graph.n + c;
    const below = this.below[k].filter((c) => this.graph.size[joint(c)]);
    if (!this._reduced(gone, k)) return "";
    const alone = !below.length && !gone.has(this.structure.parent[k]);
    if ((below.length || alone || this.place.has(i)) && below.every((c) => gone.has(joint(c))))
      return `${this.tex.D}_{${this.subscript.get(k)}}`;
    return below.some((c) => gone.has(joint(c))) ? "" : `${this.tex.inertia}_{${this._two(k, k)}}`;
  }

  // M-hat, the composite inertia R of footnote 6, or M' for a sum that is not complete.
  _articulated(i) {
    const { n } = this.graph;
    const k = this.graph.body(i);
    const gone = this._goneBefore(i);
    const whole = this.below[k].every((c) => this.graph.own(c).every((b) => gone.has(b)));
    if (this.bodyOf.has(k)) return whole ? this._mass(this.tex.tilde, k) : "";
    const line = new Set([k, ...this.above[k]]);
    for (const b of gone) if (line.has(this.graph.body(b))) return "";
    if (whole) return this._mass(this.tex.articulated, k);
    const bodiesOnly = this.below[k].every((c) => gone.has(c) && gone.has(F * n + c));
    if (bodiesOnly && !this.below[k].some((c) => gone.has(QDD * n + c))) return this._mass(this.tex.composite, k);
    return `${this.tex.M}_{${this.subscript.get(k)}}'`;
  }

  _mass(letter, k) {
    const { pieces } = this.structure;
    return pieces && pieces[k] > 1 ? "" : `${letter}_{${this.subscript.get(k)}}`;
  }

  // The joint-space inertia between a joint and one above it, before any is eliminated.
  _inertia(i, j) {
    const { n } = this.graph;
    const [a, b] = [this.graph.body(i), this.graph.body(j)];
    const [low, high] = this.above[a].length <= this.above[b].length ? [a, b] : [b, a];
    const gone = this._goneBefore(this._placeOf(i) <= this._placeOf(j) ? i : j);
    if (!this.above[high].includes(low) || !this._reduced(gone, high) || !gone.has(low)) return "";
    if ([high, ...this.below[high]].some((c) => gone.has(QDD * n + c))) return "";
    return `${this.tex.inertia}_{${this._two(a, b)}}`;
  }

  // -H_k M^_k Phi*, the one block that ABM fills in for each body.
  _projected(i, j) {
    if (this.graph.kind(i) === PDD) return adjointProduct(this._projected(j, i));
    const [k, parent] = [this.graph.body(i), this.graph.body(j)];
    if (this.structure.parent[k] !== parent) return "";
    const M = this._diagonal(k);
    if (!M || M.includes("'") || !this.first.has(k)) return "";
    return `-${this.tex.H}_{${this.subscript.get(k)}}${M}${this._phi(parent, k)}^{*}`;
  }

  // -- who has been eliminated ------------------------------------------------------------------

  // pdd and f of k and all below are gone, no body is half gone, no joint above is gone.
  _reduced(gone, k) {
    const { n } = this.graph;
    for (let b = 0; b < n; b++) if (gone.has(b) !== gone.has(F * n + b)) return false;
    if (![k, ...this.below[k]].every((c) => gone.has(c))) return false;
    return !this.above[k].some((a) => gone.has(QDD * n + a));
  }

  // Whether multipliers were pivots before a row was: the papers name nothing after that.
  _metLoop(block) {
    return [...this._goneBefore(block)].some((b) => this.graph.kind(b) === LAM);
  }

  _placeOf(block) {
    return this.place.get(block) ?? Infinity;
  }

  _goneBefore(block) {
    const end = this._placeOf(block);
    return new Set(end === Infinity ? this.order : this.order.slice(0, end));
  }
}

export function adjoint(text) {
  if (text === "I" || text === "") return text;
  const basis = /^-(\\Phi_\{[^}]*\})([BC]_\{[^}]*\})$/.exec(text); // -(Phi B)* = -B* Phi*
  if (basis) return `-${basis[2]}^{*}${basis[1]}^{*}`;
  return `${text}^{*}`;
}

// (-H M Phi*)* = -Phi M H*, M symmetric.
function adjointProduct(text) {
  const parts = /^-(H_\{[^}]*\})(.*)(\\Phi_\{[^}]*\})\^\{\*\}$/.exec(text);
  return parts ? `-${parts[3]}${parts[2]}${parts[1]}^{*}` : "";
}
