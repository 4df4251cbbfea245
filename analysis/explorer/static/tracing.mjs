// An order becomes a block program: the matrix is entered, group after group is eliminated, and the
// backward pass solves for what went, in the reverse order (kkt/program/tracer.py).

import { Bracket, Dense, Pair, present } from "./brackets.mjs";
import { Fronts, RHS } from "./fronts.mjs";
import { F, FC, FJ, LAM, QDD } from "./graph.mjs";
import { Writer, neg, t } from "./program.mjs";

const LARGE = 24; // rows of a dense pivot beyond which its entries have places of their own

// What ``steps`` of a structural engine do, of blocks that are left too:
//   instructions  all of them
//   factors       of dense pivots: { ref, rows: [{ block, step, first, last }] }
//   x             block -> reference of the solution
//   left          references of what is left of the matrix
//   standing      of each step: key -> references that add up to a block which it has updated
export class Trace {
  axes; backward; engine; factors; graph; rules; standing; steps; x;

  // axes: of each body the rows of a basis of its joint's forces.  ``together``: joints and multipliers
  // that end an order are one dense pivot, as pivotree has it
  constructor(engine, rules, axes, together = false) {
    const { graph, steps } = engine;
    Object.assign(this, { engine, graph, rules, axes, steps });
    this.position = new Map();
    this.step = new Map(); // of each block
    const put = (b, s) => {
      this.position.set(b, this.position.size);
      this.step.set(b, s);
    };
    steps.forEach((record, s) => record.pivots.flat().forEach((b) => put(b, s)));
    const { left } = engine;
    for (const b of left) put(b, steps.length); // after all others
    const atOnce = rules.assembly === "right_looking";
    this.carried = atOnce || rules.couple === "carried";
    this.write = new Writer(rules.rank_update === "gain", rules.symmetry !== "both triangles");
    this.fronts = new Fronts(this.write, graph, this.position, this.step, atOnce);
    Object.assign(this, { factors: [], backward: [], x: new Map(), standing: [] });
    this.run(this.groups(together), left);
  }

  run(groups, left) {
    const { write, fronts, graph } = this;
    this.enter();
    for (const members of groups) {
      write.step = 1 + this.step.get(members.at(-1).blocks.at(-1));
      this.group(members);
      this.standing.push(this.stand(this.steps[write.step - 1]));
    }
    const row = (i) => [...fronts.near.get(i), i, RHS].filter((j) => j >= i || j === RHS);
    this.left = left.flatMap((i) => row(i).flatMap((j) => fronts.standing(i, j)));
    for (const b of left) this.x.set(b, write.input("x", b, graph.size[b], 1));
    for (const { step, finish } of this.backward.reverse()) {
      write.step = step;
      finish();
    }
    this.instructions = write.instructions;
  }

  // The blocks that a step has updated and that are not gone yet.
  stand({ updates }) {
    const { fronts, engine } = this;
    const found = new Map();
    for (const key of updates) {
      const [i, j] = engine.ends(key);
      if (this.step.get(i) >= this.write.step && this.step.get(j) >= this.write.step)
        found.set(key, fronts.standing(i, j));
    }
    return found;
  }

  // -- the matrix -------------------------------------------------------------------------------

  enter() {
    const { graph, write: w, fronts } = this;
    const { n, structure, split } = graph;
    const { copies, pieces, parent, pairs, rows = 6 } = structure;
    if (pairs) {
      this.enterBlocks(pairs);
      return;
    }
    for (let k = 0; k < n; k++) {
      const body = copies?.[k] ?? k;
      const massive = graph.massive[k];
      const first = body === k || !massive; // behind the joint of the body; other pieces are welded
      if (massive) {
        const parts = pieces?.[k] ?? 1;
        const [M, b] = [w.input("M", body, rows, rows), w.input("b", body, rows, 1)];
        fronts.set(k, k, parts > 1 ? w.divide(M, parts) : M);
        fronts.set(k, RHS, parts > 1 ? w.divide(b, parts) : b);
      }
      const dof = first ? structure.dof[body] : 0;
      const H = dof ? w.input("H", body, dof, rows) : null;
      if (dof && massive) fronts.set(QDD * n + k, RHS, w.input("tau", body, dof, 1));
      if (graph.geared[k] && massive) fronts.set(QDD * n + k, QDD * n + k, w.input("A", body, dof, dof));
      const a = first ? w.input("a", body, rows, 1).minus : null;
      const up = parent[k];
      const Phi = up < 0 ? null : first ? w.input("Phi", body, rows, rows) : w.eye(rows);
      if (split) this.enterSplit(k, up, H, Phi, a);
      else {
        fronts.set(k, F * n + k, w.eye(rows));
        fronts.set(QDD * n + body, F * n + k, H);
        fronts.set(F * n + k, RHS, a);
        fronts.set(up, F * n + k, neg(Phi));
      }
    }
    this.enterLoops();
  }

  // A matrix of one's own: its blocks on the diagonal, those beside it, and the right-hand side.
  enterBlocks(pairs) {
    const { write: w, fronts, graph } = this;
    const { n, geared, size } = graph;
    const sized = (i, j) => [size[QDD * n + i], size[QDD * n + j]];
    for (let k = 0; k < n; k++) {
      const b = QDD * n + k;
      if (geared[k]) fronts.set(b, b, w.input("A", k, ...sized(k, k)));
      fronts.set(b, RHS, w.input("tau", k, size[b], 1));
    }
    pairs.forEach(([i, j], at) => fronts.set(QDD * n + i, QDD * n + j, w.input("K", at, ...sized(i, j))));
  }

  // f = B fJ + C fC with H B = 1 and H C = 0, so that fJ = tau.
  enterSplit(k, up, H, Phi, a) {
    const { graph, write: w, fronts } = this;
    const { n } = graph;
    const [along, across] = H ? w.bases(H, this.axes[k]) : [null, w.eye(6)];
    if (H) fronts.set(QDD * n + k, FJ * n + k, w.eye(H.rows));
    for (const kind of [FJ, FC]) {
      const basis = kind === FJ ? along : across;
      if (!basis) continue;
      fronts.set(k, kind * n + k, basis);
      fronts.set(kind * n + k, RHS, w.mul(t(basis), a));
      if (Phi) fronts.set(up, kind * n + k, neg(w.mul(Phi, basis)));
    }
  }

  enterLoops() {
    const { graph, write: w, fronts } = this;
    let side = 0;
    graph.ties.forEach(({ bodies, signs, rows, soft }, c) => {
      const own = LAM * graph.n + c;
      bodies.forEach((k, at) => {
        const G = w.input("G", side++, rows, 6);
        fronts.set(own, k, signs[at] > 0 ? G : G.minus);
      });
      if (soft) fronts.set(own, own, w.input("compliance", c, rows, rows).minus);
      fronts.set(own, RHS, w.input("gamma", c, rows, 1).minus);
    });
  }

  // -- groups -----------------------------------------------------------------------------------

  // Each a list of pivots: a pair, or one dense pivot of blocks that follow each other.
  groups(together) {
    const groups = this.steps.map(({ pivots }) => {
      const merged = [];
      for (const blocks of pivots) {
        if (blocks.length === 1 && merged.length && !merged.at(-1).pair) merged.at(-1).blocks.push(blocks[0]);
        else merged.push({ blocks: [...blocks], pair: blocks.length === 2 });
      }
      return merged;
    });
    const joints = ({ blocks }) => !this.graph.plain && blocks.every((b) => [QDD, LAM].includes(this.graph.kind(b)));
    let tail = [];
    while (together && groups.length > 1 && groups.at(-1).length === 1 && joints(groups.at(-1)[0]))
      tail = [...groups.pop()[0].blocks, ...tail];
    return tail.length ? [...groups, [{ blocks: tail, pair: false }]] : groups;
  }

  group(members) {
    const { fronts, write } = this;
    const { step } = write;
    const rows = members.flatMap(({ blocks }) => blocks);
    fronts.open(rows);
    if (members.length === 1 || this.carried) this.sequential(members, step);
    else {
      const bracket = new Bracket(write, fronts, rows, this.rules);
      for (const pivot of members) {
        const { A, E, W } = bracket.block(pivot.blocks);
        bracket.border(this.make(pivot, A), E, W);
      }
      bracket.update();
      this.backward.push({ step, finish: () => bracket.solve(this.x) });
    }
    fronts.close();
  }

  // The base pivot on blocks whose own square block is A[b][o].
  make({ blocks, pair }, A) {
    const first = A.get(blocks[0]);
    const made = pair ? new Pair(this.write, blocks, first.get(blocks[0])) : null;
    if (pair && !this.graph.plain) return made;
    const sizes = blocks.map((b) => this.graph.size[b]);
    const square = blocks.map((b) => blocks.map((o) => A.get(b).get(o)));
    const whole = pair ? first.get(blocks[1]) : this.write.square(square, sizes);
    const steps = blocks.map((b) => this.step.get(b) + 1);
    const ref = this.write.factor(whole, new Set(steps).size > 1 || whole.rows > LARGE);
    let last = 0;
    const own = (block, k) => ({ block, step: steps[k], first: last, last: (last += sizes[k]) });
    this.factors.push({ ref, rows: blocks.slice(0, whole.rows).map(own) });
    return pair ? Object.assign(made, { unit: ref }) : new Dense(this.write, blocks, sizes, ref);
  }

  // Every pivot meets all that is coupled to it, inside the group and out, at once.
  sequential(members, step) {
    const { fronts, write: w, x } = this;
    members.forEach((pivot, place) => {
      const { blocks } = pivot;
      const rest = members.slice(place + 1).flatMap((other) => other.blocks);
      const own = new Map(blocks.map((b) => [b, new Map(blocks.map((o) => [o, fronts.get(b, o)]))]));
      const made = this.make(pivot, own);
      const unit = made instanceof Pair && made.unit;
      const scale = (z, value) => (z === blocks[1] && unit ? w.solve(unit, value) : value);
      const scaled = (column) => new Map([...column].map(([b, value]) => [b, scale(b, value ?? null)]));
      const C = new Map();
      for (const o of [...rest, ...fronts.outside]) {
        const column = present(blocks.map((b) => [b, fronts.get(b, o)]));
        if (column.size) C.set(o, scaled(column));
      }
      const y = scaled(blocks.map((b) => [b, fronts.get(b, RHS)]));
      for (const [a, b] of made.coupled(C)) fronts.subtract(a, b, made.quadratic(C.get(a), C.get(b), a, b));
      for (const [o, column] of C) fronts.subtract(o, RHS, made.quadratic(column, y, o, RHS));
      const finish = () => {
        const right = new Map(y);
        for (const [o, rows] of C) for (const [b, e] of rows) right.set(b, w.sub(right.get(b), w.mul(e, x.get(o))));
        for (const [b, value] of present(scaled(made.apply(right)))) x.set(b, value);
      };
      this.backward.push({ step, finish });
    });
  }
}
