// One elimination on the page: the order that is replayed, the user's own steps, brackets, the way back.

import { Engine, completion } from "./engine.mjs";
import { Model } from "./model.mjs";
import { formOf } from "./opening.mjs";

const LETTERS = "pqfjcl"; // of the kinds of blocks, in addresses

export class Session {
  data; format; frame; names;

  constructor(data, format = "float32", frame = null) {
    // short names stand in the matrix at once: a body has one name then
    const names = data.structures.whole.names.every((name) => name.length <= 3);
    Object.assign(this, { data, format, frame, names });
    this.pending = null; // blocks of an open bracket
    this.choose(data.orders[0]?.name ?? "");
  }

  order(name) {
    return this.data.orders.find((order) => order.name === name) ?? null;
  }

  // Replay a registered order; "" starts from scratch, with forces whole or split.
  choose(name, split = false) {
    const order = this.order(name);
    this.name = order ? name : "";
    this.form = order ?? { links: "whole", split, rules: {} };
    this.plan = order?.groups ?? [];
    this.restart();
  }

  // An order of one's own, from the start, on links and with switches that the page knows.
  begin(form) {
    Object.assign(this, { name: "", form, plan: [] });
    this.restart();
  }

  restart() {
    this.pending = null;
    this.model = new Model(this.data, this.form, this.format, this.frame);
    this.engine = this.model.engine;
    this.engine.graph.named = this.names; // whether formulas and margins hold names of bodies
  }

  // The same steps in another format or another frame.
  rebuilt(format, frame) {
    Object.assign(this, { format, frame });
    const groups = this.engine.groups;
    const { redoable } = this.model;
    this.restart();
    this.model.play(groups, true);
    this.model.redoable = redoable;
  }

  // -- pivots -----------------------------------------------------------------------------------

  // What a block stands for: a pivot alone, or together with the open bracket.
  asked(row, col) {
    const pivot = this.engine.pivotAt(row, col);
    if (pivot.refused || !this.pending) return pivot;
    const members = new Set(this.pending);
    for (const b of pivot.members) members.add(b);
    return { members: [...members] };
  }

  preview(row, col) {
    const asked = this.asked(row, col);
    return asked.refused ? asked : this.model.preview(asked.members);
  }

  // Make block (row, col) the next pivot, or put it into the open bracket, or take it out again.
  pick(row, col) {
    const { graph } = this.engine;
    if (this.pending) {
      const pivot = this.engine.pivotAt(row, col);
      if (pivot.refused) return pivot;
      const gone = pivot.members.find((b) => this.engine.gone[b]);
      if (gone !== undefined) return { refused: `${graph.name(gone)} is eliminated already` };
      const inside = pivot.members.every((b) => this.pending.includes(b));
      this.pending = inside
        ? this.pending.filter((b) => !pivot.members.includes(b))
        : [...new Set([...this.pending, ...pivot.members])];
      return { bracket: this.pending };
    }
    const asked = this.engine.pivotAt(row, col);
    return asked.refused ? asked : this.eliminate(asked.members);
  }

  // A bracket by hand.
  eliminate(members) {
    return this.model.eliminate(members);
  }

  open() {
    this.pending ??= [];
  }

  close() {
    const members = this.pending ?? [];
    if (!members.length) {
      this.pending = null;
      return { empty: true };
    }
    const record = this.eliminate(members);
    if (!record.refused) this.pending = null;
    return record;
  }

  // What is left of a limb, a bracket a body, tip to base.
  limb(top) {
    const { graph } = this.engine;
    const own = graph.limb(top);
    return completion(this.engine).filter(([b]) => own.has(graph.body(b)));
  }

  // What eliminating a limb would fill and cost, dense blocks.
  foresee(top) {
    const records = this.limb(top).map((group) => this.engine.eliminate(group));
    records.forEach(() => this.engine.undo());
    const all = (key) => records.flatMap((record) => record[key]);
    const flops = records.reduce((sum, record) => sum + record.flops, 0);
    return { members: all("members"), pivots: [], fill: all("fill"), diagonal: all("diagonal"), flops };
  }

  // -- the order as a whole ---------------------------------------------------------------------

  // Brackets behind and ahead.
  get groups() {
    return [...this.engine.groups, ...this.ahead];
  }

  // The model with all of them eliminated, where there is none ahead the page's own.
  get whole() {
    const { ahead, kept } = this;
    if (!ahead.length) return this.model;
    const key = JSON.stringify([this.form, this.format, this.groups]);
    if (kept?.key !== key || kept.frame !== this.frame) this._keep(this._played(this.groups), key);
    return this.kept.model;
  }

  _keep(model, key) {
    this.kept = { model, key, frame: this.frame };
  }

  _played(groups) {
    const model = new Model(this.data, this.form, this.format, this.frame);
    model.engine.graph.named = this.names;
    for (const group of groups) if (model.engine.eliminate(group).refused) break;
    return model;
  }

  // What it comes to: { left, fill, height, operations, dense, digits, answer }, null where that is not known.
  // What pivotree has measured of a registered order is told as it is.
  get sum() {
    const order = this.onPlan ? this.order(this.name) : null;
    const measured = this.frame ? null : order?.formats?.[this.format];
    if (order && (measured || this.model.why)) {
      const { fill, height, flops = null } = order;
      return { left: 0, fill, height, operations: flops, dense: null, digits: measured?.failed ? 0 : (measured?.digits ?? null), answer: measured };
    }
    const { engine } = this.whole;
    const answer = this._answerOf(this.whole);
    return {
      left: engine.left.length,
      fill: engine.fill,
      height: engine.done ? engine.height : null,
      operations: this.whole.operations,
      dense: Math.round(engine.flops),
      digits: answer?.digits ?? null,
      answer,
    };
  }

  // Another sequence of brackets, seen after so many of them; { refused }, and all is as it was, where
  // it cannot be done.  A registered order is called by its name.
  arrange(groups, step) {
    const whole = this._played([]);
    const record = whole.play(groups);
    if (record?.refused) return record;
    const { form } = this;
    const order = this.data.orders.find((known) => alike(known, form) && sameGroups(known.groups, groups));
    Object.assign(this, { name: order?.name ?? "", plan: order?.groups ?? [], pending: null });
    this.model = step === groups.length ? whole : this._played(groups.slice(0, step));
    this.engine = this.model.engine;
    this.model.redoable = groups.slice(step).reverse();
    if (this.model !== whole) this._keep(whole, JSON.stringify([form, this.format, groups]));
    return null;
  }

  // -- along the order --------------------------------------------------------------------------

  // Whether the steps so far, and those that were taken back, are those of the registered order.
  get onPlan() {
    const groups = [...this.engine.groups, ...this.model.redoable.toReversed()];
    return this.plan.length > 0 && groups.every((group, at) => same(group, this.plan[at]));
  }

  // The registered order that is seen: the one that is replayed, or that the steps turn out to be.
  get seen() {
    return this.onPlan ? this.order(this.name) : (this.known?.order ?? null);
  }

  // Steps that were taken back, and behind them the rest of the order.
  get ahead() {
    return this.onPlan ? this.plan.slice(this.engine.step) : this.model.redoable.toReversed();
  }

  get next() {
    return this.ahead[0] ?? null;
  }

  get length() {
    return this.engine.step + this.ahead.length;
  }

  forward(count = 1) {
    const { redoable } = this.model;
    const groups = this.ahead.slice(0, count);
    if (!groups.length) return null;
    redoable.splice(Math.max(0, redoable.length - groups.length));
    return this.model.play(groups, true);
  }

  back() {
    return this.model.undo();
  }

  jump(step) {
    while (this.engine.step > step && this.back());
    const record = this.forward(Math.max(0, step - this.engine.step));
    return record?.refused ? record : null;
  }

  // Eliminate what is left, a bracket a body, tip to base.
  finish() {
    const record = this.model.play(completion(this.engine));
    return record?.refused ? record : null;
  }

  // The registered order that the whole is: { order, moved }, moved where its brackets came in another
  // sequence, each of which met the same blocks; null for any other, and where blocks are left.
  get known() {
    const { engine } = this.whole;
    if (!engine.done) return null;
    let found = null;
    for (const order of this.data.orders) {
      if (order.groups.length !== engine.step || order.fill !== engine.fill || !alike(order, this.form)) continue;
      if (sameGroups(order.groups, engine.groups)) return { order, moved: false };
      found ??= this._meets(order, engine) ? { order, moved: true } : null;
    }
    return found;
  }

  // Whether each bracket meets the same blocks as in an order of the same brackets: then the two are one
  // elimination, whose brackets commute.  Equal fill is not enough.
  _meets(order, engine) {
    const met = metIn(engine);
    if (!order.groups.every((group) => met.has(named(group)))) return false;
    const run = new Engine(this.data.structures[this.form.links], this.form.split);
    for (const group of order.groups) run.eliminate(group);
    return [...metIn(run)].every(([key, blocks]) => met.get(key) === blocks);
  }

  // The registered order whose brackets these steps are, block by block: the same pivots one at a time
  // cost more, since zeros inside a bracket are used.  null where it is known itself.
  get torn() {
    const { engine, form } = this;
    if (!engine.done || this.known) return null;
    const flat = engine.groups.flat();
    return this.data.orders.find((order) => {
      let at = 0;
      return alike(order, form) && order.groups.every((group) => same(group, flat.slice(at, (at += group.length))));
    }) ?? null;
  }

  // Digits of qdd once all is eliminated: what pivotree has measured where this order is a registered
  // one, so that an order has one answer everywhere; else what the page computes.
  answer() {
    return this._answerOf(this.model);
  }

  _answerOf(model) {
    const known = model.engine.done ? this.known : null;
    const found = known && !known.moved && !this.frame ? known.order.formats?.[this.format] : null;
    if (Number.isFinite(found?.digits)) return { ...found, by: "pivotree" };
    const own = model.answer();
    return own && { ...own, by: "page" };
  }

  // What the order costs so far, by the name of the count: operations leave out the zeros and ones of
  // this robot; dense ones, where those are too many to count or cannot be, take every block as full.
  get cost() {
    const known = this.engine.done ? this.known : null;
    return worked(this.model.operations ?? (known?.moved ? null : known?.order.flops) ?? null, this.engine.flops);
  }

  get title() {
    const known = this.onPlan ? null : this.known;
    if (known) return `your order: this is ${known.order.name}${known.moved ? ", its branches in another sequence" : ""}`;
    if (!this.name) return "your order";
    return this.onPlan ? this.name : `yours, after ${this.name}`;
  }

  // -- shared orders ----------------------------------------------------------------------------

  // Groups of [kind, body], as pivotree's --order takes them.
  named(groups = this.engine.groups) {
    const { graph } = this.engine;
    return groups.map((g) => g.map((b) => [graph.kinds[graph.kind(b)], graph.called(b)]));
  }

  // Show groups of [kind, body]; where they cannot be done, throws and leaves all as it was.
  setNamed({ groups, links, rules }) {
    const split = groups.flat().some(([kind]) => kind === "fJ" || kind === "fC");
    const form = formOf(this.data, split, links, rules);
    const before = { ...this };
    this.begin(form);
    try {
      const found = groups.map((group) => group.map(([kind, body]) => this.engine.graph.find(kind, body)));
      const unknown = groups.flat()[found.flat().indexOf(-1)];
      if (unknown) throw new Error(`this model has no block ${unknown.join(" ")}`);
      const record = this.model.play(found);
      if (record?.refused) throw new Error(record.refused);
    } catch (error) {
      Object.assign(this, before);
      throw error;
    }
  }

  // "abm@2" while an order is replayed, else the user's groups, forces whole or split: "w.p0q0f0.p1f1",
  // with links and switches that are not the usual ones: "w;links=stretched.p0q0f0"; "@1" behind it
  // where only so many of them are taken.
  get code() {
    if (this.onPlan) return `${this.name}@${this.engine.step}`;
    const { graph } = this.engine;
    const { split, links, rules } = this.form;
    const said = Object.entries(links === "whole" ? rules : { links, ...rules });
    const form = [split ? "s" : "w", ...said.map((pair) => pair.join("="))].join(";");
    const coded = (b) => LETTERS[graph.kind(b)] + (b - graph.kind(b) * graph.n);
    const text = this.groups.map((g) => g.map(coded).join(""));
    return [form, ...text].join(".") + (this.ahead.length ? `@${this.engine.step}` : "");
  }

  // Show a shared order; false, and all is as it was, where it does not fit this model.
  setCode(code) {
    const before = { ...this };
    if (this._setCode(code)) return true;
    Object.assign(this, before);
    return false;
  }

  _setCode(code) {
    const replay = /^(.*)@(\d+)$/.exec(code);
    if (replay && this.order(replay[1])) {
      this.choose(replay[1]);
      return !this.jump(Number(replay[2]));
    }
    const [form, ...groups] = (replay?.[1] ?? code).split(".");
    const [letter, ...said] = form.split(";");
    if (letter !== "w" && letter !== "s") return false;
    const { links, ...rules } = Object.fromEntries(said.map((pair) => pair.split("=")));
    try {
      this.begin(formOf(this.data, letter === "s", links, rules));
    } catch {
      return false;
    }
    const { graph } = this.engine;
    const found = [];
    for (const group of groups) {
      const named = [...group.matchAll(/([pqfjcl])(\d+)/g)];
      const members = named.map(([, kind, k]) => LETTERS.indexOf(kind) * graph.n + Number(k));
      const beyond = named.some(([, kind, k]) => kind !== "l" && Number(k) >= graph.n);
      if (!members.length || beyond || members.some((b) => !graph.size[b])) return false;
      found.push(members);
    }
    if (this.model.play(found)?.refused) return false;
    while (replay && this.engine.step > Number(replay[2])) this.back();
    return true;
  }
}

// Whether two groups hold the same blocks.
export function same(a, b) {
  return a?.length === b?.length && a.every((x) => b.includes(x));
}

const sameGroups = (a, b) => a.length === b.length && a.every((group, at) => same(group, b[at]));

// Whether two orders are of one form: forces whole or split, links, switches.
function alike(a, b) {
  return a.split === b.split && a.links === b.links && sameRules(a.rules, b.rules);
}

// A bracket's name among others: its blocks, in whatever order they were picked.
const named = (members) => [...members].sort((x, y) => x - y).join();

// For each bracket of an elimination, by its name, the blocks that each of its pivots met.
export function metIn(engine) {
  /** @type {(record: any) => string} */
  const met = ({ columns }) => columns.map(([b, column]) => `${b}:${[...column].sort((x, y) => x - y)}`).join(" ");
  return new Map(engine.steps.map((record) => [named(record.members), met(record)]));
}

// So many operations, or where those are not known, dense ones by their name.
export function worked(operations, dense) {
  const count = operations ?? Math.round(dense);
  return `${count.toLocaleString("en")} ${operations === null ? "dense operations" : "operations"}`;
}

function sameRules(a = {}, b = {}) {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
