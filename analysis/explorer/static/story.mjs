// Scenes, one idea each: from three numbers a body, by hand, to a robot of one's own; the whole tool
// follows.

import { button, h, plural, replaced } from "./dom.mjs";
import { Board } from "./board.mjs";
import { Robot } from "./robot.mjs";
import { Session } from "./session.mjs";
import { Labels } from "./labels.mjs";
import { Numerals, numeral } from "./numbers.mjs";
import { Sliders } from "./sliders.mjs";
import { F, PDD, QDD } from "./graph.mjs";
import { LAWS, SCENES } from "./scenes.mjs";
import { math } from "./mathml.mjs";
import { rowsOf } from "./scene.mjs";
import { digitsIn } from "./arithmetic.mjs";
import { count, filled, meanings } from "./words.mjs";

const [EQUATIONS, SINGLE, BRACKET, FIND, DIGITS, RIGID, OWN] = SCENES.keys();
const LAW = 190; // [px] for the equations beside the matrix
const FATTENING = 600; // [ms] that a cell takes to become its block

export class Story {
  actions; at; data; hinted; model; page; tries;

  // actions: { tool(), moved(scene, code of its steps or "") }; page: the document of the robot that the tool is on
  constructor(page, look, actions) {
    const model = page.model.split(/[\\/]/).at(-1);
    Object.assign(this, { page, data: page.story, model, actions, at: 0, tries: [], hinted: 0 });
    this.look = { ...look, order: "body", heat: false, folded: [], fat: 1 };
    this.look.labelled = (session) => (this.at === OWN ? new Labels(session.engine) : new Numerals(session));
    this.title = h("h2", { class: "scene-title" });
    this.text = h("div", { class: "scene-text" });
    this.told = h("p", { class: "told", role: "status", "aria-live": "polite" });
    this.cell = h("p", { class: "cell-told soft" });
    this.buttons = h("div", { class: "row scene-buttons" });
    this.lesson = h("p", { class: "soft lesson" });
    this.laws = h("div", { class: "laws" });
    this.figures = h("div", { class: "scene-robot" });
    this.matrix = h("div", { class: "scene-matrix" });
    this.tabs = SCENES.map(({ title }, at) =>
      button(String(at + 1), `Scene ${at + 1}: ${title}`, () => this.go(at), { class: "tab" }),
    );
    const tool = button("The whole tool", `The whole tool, on ${model}`, () => actions.tool(), { class: "tab wide" });
    this.nav = h("nav", { class: "scenes", "aria-label": "Scenes" }, ...this.tabs, tool);
    const words = h("div", { class: "scene-words" }, this.title, this.text, this.told, this.buttons, this.lesson);
    this.node = h("section", { class: "story", "aria-label": "Scenes" }, this.nav, words, this.figures, this.matrix);
    this.sizing = new ResizeObserver(() => this.draw());
    this.sizing.observe(this.matrix);
  }

  destroy() {
    this.sizing.disconnect();
    this.robot?.destroy();
  }

  // ``code``: of the steps that are taken already.
  go(at, code = "") {
    this.at = Math.max(0, Math.min(SCENES.length - 1, at));
    const scene = SCENES[this.at];
    const { line, digits } = this.data;
    this.hinted = 0;
    this.look.fat = 1;
    this.source = this.at === OWN ? this.page : this.at === DIGITS ? digits : line;
    this.session = this._fresh(this.source);
    if (code) this.session.setCode(code);
    this.board = new Board(this.session, this.look, {
      pick: (i, j) => this._pick(i, j),
      hover: (i, j) => this._hover(i, j),
      describe: (i, j) => this._described(i, j),
    });
    this.robot?.destroy();
    const pointed = { point: (k) => this._point(k), pick: (k) => this._body(k) };
    this.robot = null;
    if (this.at !== OWN) this.robot = new Sliders(this.source, pointed);
    else if (Robot.fits(this.source)) this.robot = new Robot(this.source, pointed);
    replaced(this.figures, this.robot?.node);
    replaced(this.matrix, h("div", { class: "beside-laws" }, this.board.node, this.at === EQUATIONS ? this.laws : null), this.cell);
    this.title.textContent = scene.title;
    replaced(this.text, ...scene.text.map((text) => h("p", {}, ...this._lettered(text))));
    this._lesson(scene.lesson);
    this.tabs.forEach((tab, k) => tab.setAttribute("aria-current", k === this.at ? "step" : "false"));
    replaced(this.told, ...this._lettered(scene.ask));
    this.cell.textContent = "Point at a cell to read what stands in it.";
    if (this.at === EQUATIONS) replaced(this.laws, ...this._equations());
    this.draw();
    this._buttons();
    this._moved();
  }

  _fresh(source) {
    const session = new Session(source, this.at === DIGITS || this.at === OWN ? "float32" : "float64");
    session.begin({ links: "whole", split: false, rules: source === this.page ? {} : source.orders[0].rules });
    return session;
  }

  _lesson(lesson) {
    this.lesson.hidden = !lesson;
    if (!lesson) return;
    const [page, called] = lesson;
    const link = this.data.lessons ? h("a", { href: `${this.data.lessons}${page}.html`, target: "_top" }, called) : called;
    replaced(this.lesson, link, ` does this in Python (docs/lessons/${page}.py)`);
  }

  draw() {
    if (!this.board || !this.node.isConnected) return;
    const narrow = globalThis.innerWidth < 700;
    const { top } = this.matrix.getBoundingClientRect();
    const below = (globalThis.innerHeight || 900) - Math.max(0, top + (globalThis.scrollY || 0)) - 60;
    const beside = this.at === EQUATIONS && globalThis.innerWidth > 1120 ? LAW : 0;
    const side = Math.floor(Math.min(this.matrix.clientWidth - beside, narrow ? 420 : Math.max(320, below), 680));
    if (side < 100) return;
    this.board.draw(side);
    this.robot?.draw(this.session.engine);
    this.robot?.named((k) => (this.board.labels ? this._called(k) : "")); // many names would cover each other
  }

  _moved() {
    this.actions.moved(this.at + 1, this.session.engine.step ? this.session.code : "");
  }

  undo() {
    this.session.back();
    this._after("One step back.");
  }

  _buttons() {
    const last = this.at === SCENES.length - 1;
    const next = last
      ? button(`Now on ${this.model}`, `Now on ${this.model}: the whole tool`, () => this.actions.tool(), { class: "primary" })
      : button("Next", `Next, scene ${this.at + 2}: ${SCENES[this.at + 1].title}`, () => this.go(this.at + 1), { class: "primary" });
    const back = button("Undo", "Undo the last step", () => this.undo());
    back.disabled = this.session.engine.step === 0;
    const runs = this.at === DIGITS ? ["crbm", "abm"].map((name) => button(`Run ${name.toUpperCase()}`, `Run ${name}`, () => this._run(name))) : [];
    const rigid = this.session.data !== this.source;
    const fatten = button("Make them rigid bodies", "Make them rigid bodies", () => this._fatten(), { "aria-pressed": String(rigid) });
    const hint = button("Hint", "A hint", () => this._hint());
    const held = this.buttons.contains(document.activeElement) && document.activeElement.ariaLabel;
    replaced(this.buttons, ...runs, this.at === RIGID ? fatten : null, this.at ? back : null, this.at === FIND ? hint : null, next);
    if (held) ([...runs, fatten, back].find((made) => made.ariaLabel === held && !made.disabled) ?? next).focus();
  }

  _say(text) {
    this.told.textContent = text;
  }

  _after(text) {
    this.board.preview = null;
    this._say(text);
    this.draw();
    this._buttons();
    this._moved();
  }

  // -- letters and laws -------------------------------------------------------------------------

  // A sentence whose letters can be pointed at.
  _lettered(text) {
    return text.split(/(\{\w+=?\}|`.+?`)/).map((part) => {
      const [, role, told] = /^\{(\w+)(=?)\}$/.exec(part) ?? [];
      if (!role) return part.startsWith("`") ? h("code", {}, part.slice(1, -1)) : part;
      if (role === "model") return this.model;
      const { letters } = this.page.structures.whole;
      const say = () => this._letter(role);
      const on = { onpointerenter: say, onfocus: say, onclick: say };
      const letter = h("button", { type: "button", class: "letter", ...on }, math(letters[role]));
      return h("span", {}, letter, told ? `, ${this.page.told[letters[role]]}` : "");
    });
  }

  // An unknown that is pointed at: what it is, its size, and its rows.
  _letter(role) {
    const { graph } = this.session.engine;
    const own = graph.blocks.filter((b) => graph.kind(b) === [PDD, QDD, F][["pdd", "qdd", "f"].indexOf(role)]);
    const { letters } = graph.structure;
    this.board.lit = own;
    this.board.overlay();
    const sizes = [...new Set(own.map((b) => graph.size[b]))].join(" or ");
    replaced(this.told, math(letters[role]), `: ${this.page.told[letters[role]]}. ${plural(own.length, "row")} of ${sizes === "1" ? "one number" : `${sizes} numbers`}, framed in the matrix.`);
  }

  // Row b as an equation, its numbers those of the matrix.
  _equation(b) {
    const { engine, model, data } = this.session;
    const { graph } = engine;
    const { labels } = this.board;
    const terms = [b, ...engine.near[b]].sort((x, y) => graph.blocks.indexOf(x) - graph.blocks.indexOf(y));
    const sum = terms.map((o) => [model.entries(b, o)?.high[0] ?? 0, o]).filter(([value]) => value);
    const k = graph.body(b);
    const right = [data.entries.b, data.entries.tau, data.entries.a.map(([a]) => [-a])][graph.kind(b)][k][0];
    /** @type {(value: number) => string} */
    const size = (value) => (Math.abs(value) === 1 ? "" : numeral(Math.abs(value)));
    const left = sum.map(([value, o]) => `${value < 0 ? "-" : "+"}${size(value)}${labels.unknown(o)}`).join("");
    return `${left.replace(/^\+/, "")}=${numeral(right + 0).replace("−", "-")}`;
  }

  _equations() {
    this.board.draw(300); // its labels
    const { graph } = this.session.engine;
    return graph.blocks.map((b) => {
      const say = () => this._law(b);
      return h("button", { type: "button", class: "law", onpointerenter: say, onfocus: say, onclick: say }, math(this._equation(b)));
    });
  }

  _law(b) {
    const { graph } = this.session.engine;
    this._lit([b], [graph.body(b)]);
    replaced(this.told, math(this._equation(b)), ` says of ${this._called(graph.body(b))}, ${LAWS[graph.kind(b)]}.`);
  }

  _lit(blocks, bodies) {
    this.robot?.mark(bodies);
    this.board.lit = blocks;
    this.board.overlay();
    [...this.laws.children].forEach((law, at) => law.classList.toggle("marked", blocks.includes(this.session.engine.graph.blocks[at])));
  }

  // What stands in a cell: its name, its size, its numbers, and what its letters are.
  _cell(i, j) {
    const { engine, model } = this.session;
    const { graph } = engine;
    const labels = this.board.labels ?? new Labels(this.session.engine); // of a large matrix, which has none
    const tex = labels.cell(i, j);
    const standing = i === j ? engine.diagonal[i] >= 0 : engine.made.has(engine.key(i, j));
    const found = standing && graph.size[i] * graph.size[j] === 1 ? model.entries(i, j) : null;
    const number = found ? [found.low, found.high].map(([x]) => numeral(x)) : [];
    const value = number.length ? ` = ${number[1]}${number[0] === number[1] ? "" : `, in ${this.session.format} ${number[0]}`}` : "";
    const words = meanings(this.page.told, tex).flatMap(([letter, what]) => ["; ", math(letter), `: ${what}`]);
    const of = standing ? [tex && tex !== "0" ? math(tex) : "no name", `${value}, ${graph.size[i]} × ${graph.size[j]}`, ...words] : ["zero"];
    replaced(this.cell, "Row ", math(labels.unknown(i)), ", column ", math(labels.unknown(j)), ": ", ...of);
  }

  _called(k) {
    const { structure } = this.session.engine.graph;
    return `${this.at === OWN ? "body" : "slider"} ${this.board.labels?.subscript.get(k) ?? structure.names[k] ?? "of the loop"}`;
  }

  _unknown(b) {
    const { graph } = this.session.engine;
    return `${{ [PDD]: "p̈", [QDD]: "q̈", [F]: "f" }[graph.kind(b)] ?? "λ"} of ${this._called(graph.body(b))}`;
  }

  // -- pointing ---------------------------------------------------------------------------------

  _left(k) {
    return this.session.engine.graph.own(k).filter((b) => !this.session.engine.gone[b]);
  }

  _point(k) {
    this.board.preview = k === null || this.at < BRACKET ? null : this._foreseen(this._left(k));
    this._lit(k === null ? [] : this.session.engine.graph.own(k), k === null ? [] : [k]);
    if (k === null || this.at !== EQUATIONS) return;
    const { parent } = this.session.data.structures.whole;
    const near = parent.map((p, c) => (p === k ? c : c === k ? p : -1)).filter((b) => b >= 0);
    const own = `${this._called(k)}: three rows, framed.`;
    this._say(`${own[0].toUpperCase()}${own.slice(1)} It meets ${near.map((b) => this._called(b)).join(" and ")}, and no other.`);
  }

  _hover(i, j) {
    const { engine } = this.session;
    if (i === null) {
      this._point(null);
      return;
    }
    const k = engine.graph.body(i);
    if (this.at === EQUATIONS) this._law(i);
    else if (this.at > DIGITS || this.at === FIND) this._point(k);
    else {
      const gone = engine.gone[i] || engine.gone[j];
      const asked = gone ? { refused: true } : this._asked(i, j);
      this.board.preview = asked.refused ? null : this._foreseen(asked.members);
      this._lit([], [k]);
      this.board.overlay([[i, j]]);
    }
    const { preview } = this.board;
    if (preview && !preview.refused)
      this._say(`${this._named(preview.members)} would fill ${filled(engine, preview)}.`);
    this._cell(i, j);
  }

  // What a click on a cell stands for, where single cells are pivots.
  _asked(i, j) {
    if (this.at === SINGLE && i !== j) return { refused: "single pivots stand on the diagonal" };
    return this.session.asked(i, j);
  }

  _named(members) {
    const { graph } = this.session.engine;
    if (members.length > 2) return `The bracket of ${this._called(graph.body(members[0]))}`;
    return members.map((b) => this._unknown(b)).join(" with ");
  }

  // What a bracket would do, with the numbers of the cells that it changes before and after.
  _foreseen(members) {
    if (!members.length) return null;
    const { model, engine } = this.session;
    const preview = model.preview(members);
    if (preview.refused || engine.graph.structure.rows !== 1) return preview;
    const told = () => (this.board.labels?.number ? new Numerals(this.session) : null);
    const cells = [...preview.updates].map((key) => engine.ends(key));
    const [before, gone] = [told(), new Set(members)];
    const old = cells.map(([i, j]) => before.number(i, j) || "0");
    model.eliminate(members, true);
    const after = told();
    preview.becomes = cells.flatMap(([i, j], at) => {
      if (gone.has(i) || gone.has(j)) return [];
      const pair = [old[at], after.number(i, j)];
      return i === j ? [[i, j, ...pair]] : [[i, j, ...pair], [j, i, ...pair]];
    });
    model.undo();
    model.redoable.pop();
    return preview;
  }

  _described(i, j) {
    return `row ${this._unknown(i)}, column ${this._unknown(j)}. ${this.told.textContent} ${this.cell.textContent}`;
  }

  // -- doing ------------------------------------------------------------------------------------

  _pick(i, j) {
    const { graph } = this.session.engine;
    if (this.at === EQUATIONS && i === j && graph.kind(i) === PDD) {
      this.go(SINGLE); // a number that is clicked goes, and the next scene tells what came of it
      this._pick(i, j);
      this.board.cursor = [i, j];
      this.board.grid.focus({ preventScroll: true });
    } else if (this.at === EQUATIONS) this._law(i);
    else if (this.at === FIND || this.at > DIGITS) this._body(graph.body(i));
    else {
      const asked = this._asked(i, j);
      const record = asked.refused ? asked : this.session.eliminate(asked.members);
      if (record.refused) this._say(`That cannot go yet: ${this._plain(record.refused)}.`);
      else this._after(this._filled(record));
    }
  }

  _body(k) {
    if (this.at < BRACKET) {
      this._point(k);
      if (this.at === SINGLE) this._say("Here single numbers go: pick one on the diagonal of the matrix.");
      return;
    }
    const members = this._left(k);
    const record = members.length ? this.session.eliminate(members) : { refused: `${this._called(k)} is eliminated already; undo goes back` };
    if (record.refused) this._say(`That cannot go yet: ${this._plain(record.refused)}.`);
    else this._after(this._filled(record) + (this.session.engine.done ? this._judged() : ""));
  }

  _plain(text) {
    return text.replace(/(pdd|qdd|f)_(\w+)/g, (_, kind) => ({ pdd: "p̈", qdd: "q̈" })[kind] ?? "f");
  }

  _filled(record) {
    const { engine } = this.session;
    const rest = engine.done ? ` All are eliminated: ${plural(engine.fill, "block")} of fill in all.` : "";
    return `${this._named(record.members)} is gone. Its neighbours meet now, and that fills ${filled(engine, record)} (orange).${rest}`;
  }

  // At the end of scene 4 and of those with blocks: what the sequence cost, and its name where it has one.
  _judged() {
    if (this.at < FIND) return "";
    const { engine, known } = this.session;
    const rigid = this.at === FIND ? this._fresh(this.data.rigid).model : this.session.model;
    if (this.at === FIND) rigid.play(engine.groups);
    const { operations } = rigid;
    const cost = operations === null ? "" : ` With rigid bodies this sequence takes ${plural(operations, "operation")}.`;
    const name = known && !known.moved ? known.order.name : "";
    const called = name ? ` Each bracket met whom it meets in ${name.toUpperCase()}${name === "abm" ? ", the articulated body method" : ""}: this is ${name.toUpperCase()}.` : "";
    if (this.at !== FIND) return `${cost}${called}`;
    const own = { fill: engine.fill, operations, groups: JSON.stringify(engine.groups) };
    if (!this.tries.some(({ groups }) => groups === own.groups)) this.tries.push(own);
    const best = [...this.tries].sort((a, b) => a.fill - b.fill || a.operations - b.operations)[0];
    const { thirty } = this.data;
    const beyond = name === "abm" ? ` On an arm of 30 links it takes ${count(thirty.abm)} operations, where CRBM, all joints last, takes ${count(thirty.crbm)}.` : "";
    const found = this.tries.length > 1 ? ` Best of ${this.tries.length} tries: ${plural(best.fill, "block")}, ${count(best.operations)} operations.` : "";
    return `${cost}${found}${called}${beyond}`;
  }

  _hint() {
    const { hints } = SCENES[this.at];
    this._say(hints[this.hinted]);
    this.hinted = (this.hinted + 1) % hints.length;
  }

  // Scene 5: an order from the first step, and the first number of which digits are lost.
  _run(name) {
    const { session } = this;
    session.choose(name);
    let lost = "";
    while (session.forward()) lost ||= this._lost();
    const { engine, model } = session;
    const base = session.data.structures.whole.parent.indexOf(-1);
    const own = model.pivots.find(({ block }) => block === QDD * engine.graph.n + base);
    const digits = digitsIn("float32").toFixed(1);
    const kept = model.failed ? "no digit is left" : `${(session.answer()?.digits ?? 0).toFixed(1)} of ${digits} digits are kept`;
    this._after(`${name.toUpperCase()}: ${lost}the light slider's pivot is ${own.values[0].toPrecision(1)}; on paper it is 1. In float32 ${kept}.`);
  }

  _lost() {
    const { engine, model } = this.session;
    for (const b of rowsOf(engine, "body")) {
      const found = engine.diagonal[b] >= 0 && !engine.gone[b] ? model.entries(b, b) : null;
      const both = found ? [found.low, found.high].map(([x]) => numeral(x)) : [];
      if (both[0] !== both[1]) return `at step ${engine.step} the cell of ${this._unknown(b)} should hold ${both[1]}, and float32 holds ${both[0]}; `;
    }
    return "";
  }

  // Scene 6: numbers become blocks, or blocks numbers, the steps so far the same.
  _fatten() {
    const { line, rigid } = this.data;
    const fat = this.session.data !== rigid;
    const { groups } = this.session.engine;
    this.session = this._fresh(fat ? rigid : line);
    this.session.model.play(groups);
    this.board.session = this.session;
    this.board.preview = null;
    this._buttons();
    this._say(fat ? "Each number is a block now, with its numbers in it." : "One direction alone: each block is one number.");
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const start = performance.now();
    const step = (now) => {
      const part = still ? 1 : Math.min(1, Math.max(0, now - start) / FATTENING);
      this.look.fat = fat ? part * (2 - part) : 1;
      this.draw();
      if (fat && part < 1) requestAnimationFrame(step);
    };
    step(start);
  }
}
