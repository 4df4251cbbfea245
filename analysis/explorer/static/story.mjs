// Five scenes, one idea each, on a small arm that every page brings along; the whole tool follows.

import { button, h, plural, replaced } from "./dom.mjs";
import { Board } from "./board.mjs";
import { Robot } from "./robot.mjs";
import { Session } from "./session.mjs";
import { PDD, QDD } from "./graph.mjs";
import { unit } from "./arithmetic.mjs";
import { filled } from "./words.mjs";

export const SCENES = [
  {
    title: "The arm is a matrix",
    ask: "Point at a link of the arm, or tap it.",
    lesson: ["1_matrix", "Lesson 1"],
    text: [
      "Every body brings three rows: p̈, minus its acceleration, the acceleration q̈ of its joint, and the force f through that joint. A colour marks what is not zero.",
      "Point at a link, or at a row. Two bodies meet in the matrix only where one hangs on the other: the matrix is the arm.",
    ],
  },
  {
    title: "Eliminate a block, and zeros fill",
    ask: "Point at p̈ of the body in the middle.",
    lesson: ["2_fill", "Lesson 2"],
    text: [
      "To eliminate an unknown, one equation is solved for it and put into all the others that hold it. They are then coupled with each other, where there was zero before: that is fill.",
      "Point at p̈ of a body, on the diagonal: dashed blocks would be filled. Click to do it. Which body fills least?",
    ],
  },
  {
    title: "Together, as a bracket",
    ask: "Begin with the body in the middle, then undo, and begin with the tip.",
    lesson: ["3_brackets", "Lesson 3"],
    text: [
      "The blocks of one body can be eliminated together: a bracket (p̈ q̈ f). Its own small system is solved first, and only the result meets the rest of the arm.",
      "Click a link of the arm, or any of its rows, and the whole body goes. What do you fill if you begin in the middle?",
    ],
  },
  {
    title: "Find the order",
    ask: "No body is eliminated yet: click a link of the arm, or one of its rows.",
    lesson: ["5_orders", "Lesson 5"],
    text: [
      "Your turn. Eliminate all three bodies, a bracket each, and fill as little as you can.",
      "Six sequences are possible. One of them is the best-known fast algorithm of robotics.",
    ],
  },
  {
    title: "Where digits vanish",
    ask: "On paper the light slider's pivot is 1: the heavy one gives way along the line.",
    lesson: ["4_digits", "Lesson 4"],
    text: [
      "A light slider of 1 kg, and on it one of 100,000 tonnes that slides along the same line. Every order gives the same answer on paper. In float32 a number has 7 digits.",
      "CRBM adds the masses first, then takes the heavy one away again. ABM takes it away before it is added. Run both.",
    ],
  },
];

export class Story {
  actions; data; model;

  // actions: { tool(), moved(scene) }; model: the robot that the tool is on
  constructor(data, look, model, actions) {
    Object.assign(this, { data, model, actions, at: 0, solved: false });
    this.look = { ...look, order: "body", heat: false };
    this.title = h("h2", { class: "scene-title" });
    this.text = h("div", { class: "scene-text" });
    this.told = h("p", { class: "told", role: "status", "aria-live": "polite" });
    this.buttons = h("div", { class: "row scene-buttons" });
    this.lesson = h("p", { class: "soft lesson" });
    this.figures = h("div", { class: "scene-robot" });
    this.matrix = h("div", { class: "scene-matrix" });
    this.tabs = SCENES.map(({ title }, at) =>
      button(String(at + 1), `Scene ${at + 1}: ${title}`, () => this.go(at), { class: "tab" }),
    );
    const tool = button("The whole tool", `The whole tool, on ${model}`, () => actions.tool(), { class: "tab wide" });
    this.nav = h("nav", { class: "scenes", "aria-label": "Scenes" }, ...this.tabs, tool);
    const words = h("div", { class: "scene-words" }, this.title, this.text, this.told, this.buttons, this.lesson);
    this.node = h("section", { class: "story", "aria-label": "Five scenes" }, this.nav, words, this.figures, this.matrix);
    this.sizing = new ResizeObserver(() => this.draw());
    this.sizing.observe(this.matrix);
  }

  destroy() {
    this.sizing.disconnect();
    this.robot?.destroy();
  }

  go(at) {
    this.at = Math.max(0, Math.min(SCENES.length - 1, at));
    this.solved = false;
    const scene = SCENES[this.at];
    const source = this.at === 4 ? this.data.digits : this.data.arm;
    this.session = new Session(source);
    this.session.choose("");
    this.board = new Board(this.session, this.look, {
      pick: (i, j) => this._pick(i, j),
      hover: (i, j) => this._hover(i, j),
      describe: (i, j) => this._described(i, j),
    });
    this.robot?.destroy();
    this.robot = new Robot(source, {
      point: (k) => this._point(k),
      pick: (k) => this._body(k),
    });
    replaced(this.figures, this.robot.node);
    replaced(this.matrix, this.board.node);
    this.title.textContent = scene.title;
    replaced(this.text, ...scene.text.map((p) => h("p", {}, p)));
    const [page, called] = scene.lesson;
    const link = this.data.lessons ? h("a", { href: `${this.data.lessons}${page}.html`, target: "_top" }, called) : called;
    replaced(this.lesson, link, ` does this in Python (docs/lessons/${page}.py)`);
    this.tabs.forEach((tab, k) => tab.setAttribute("aria-current", k === this.at ? "step" : "false"));
    this._say(scene.ask);
    this.draw();
    this._buttons();
    this.actions.moved(this.at + 1);
  }

  draw() {
    if (!this.board || !this.node.isConnected) return;
    const narrow = globalThis.innerWidth < 700;
    const { top } = this.matrix.getBoundingClientRect();
    const below = (globalThis.innerHeight || 900) - Math.max(0, top + (globalThis.scrollY || 0)) - 24;
    const side = Math.floor(Math.min(this.matrix.clientWidth, narrow ? 420 : Math.max(320, below), 680));
    if (side < 100) return;
    this.board.draw(side);
    this.robot.draw(this.session.engine);
    this.robot.named((k) => `body ${this._name(k)}`);
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
    const runs = last ? ["crbm", "abm"].map((name) => button(`Run ${name.toUpperCase()}`, `Run ${name}`, () => this._run(name))) : [];
    replaced(this.buttons, ...runs, this.at && !last ? back : null, next);
  }

  _say(text) {
    this.told.textContent = text;
  }

  _after(text) {
    this.board.preview = null;
    this.draw();
    this._buttons();
    this._say(text);
  }

  _name(k) {
    return this.board.labels.subscript.get(k);
  }

  _unknown(b) {
    const { graph } = this.session.engine;
    return `${{ [PDD]: "p̈", [QDD]: "q̈" }[graph.kind(b)] ?? "f"} of body ${this._name(graph.body(b))}`;
  }

  // -- pointing ---------------------------------------------------------------------------------

  _own(k) {
    const { graph } = this.session.engine;
    return graph.blocks.filter((b) => graph.body(b) === k);
  }

  _point(k) {
    this.robot.mark(k === null ? [] : [k]);
    this.board.preview = k === null || this.at < 2 ? null : this._foreseen(this._left(k));
    this.board.lit = k === null ? [] : this._own(k);
    this.board.overlay();
    if (k === null) return;
    const { parent } = this.session.data.structures.whole;
    const near = parent.map((p, c) => (p === k ? c : c === k ? p : -1)).filter((b) => b >= 0);
    if (this.at === 0)
      this._say(`Body ${this._name(k)}: rows p̈, q̈ and f. It meets ${near.map((b) => `body ${this._name(b)}`).join(" and ")}, and no other.`);
  }

  _hover(i, j) {
    const { engine } = this.session;
    const body = i === null ? null : engine.graph.body(i);
    if (this.at !== 1 || body === null) {
      this._point(body);
      return;
    }
    this.robot.mark([body]);
    this.board.lit = [];
    const gone = engine.gone[i] || engine.gone[j];
    const pivot = gone ? null : this.session.preview(i, j);
    this.board.preview = pivot;
    this.board.overlay([[i, j]]);
    if (pivot && !pivot.refused) this._say(`${this._unknown(i)}: would fill ${filled(this.session.engine, pivot)}.`);
  }

  _described(i, j) {
    return `row ${this._unknown(i)}, column ${this._unknown(j)}. ${this.told.textContent}`;
  }

  _left(k) {
    return this._own(k).filter((b) => !this.session.engine.gone[b]);
  }

  _foreseen(members) {
    return members.length ? this.session.model.preview(members) : null;
  }

  // -- doing ------------------------------------------------------------------------------------

  _pick(i, j) {
    const { graph } = this.session.engine;
    if (this.at === 0) this._point(graph.body(i));
    else if (this.at > 1) this._body(graph.body(i));
    else {
      const record = this.session.pick(i, j);
      if (record.refused) this._say(`That cannot go yet: ${this._plain(record.refused)}.`);
      else this._after(this._filled(record, this._unknown(i)));
    }
  }

  _body(k) {
    if (this.at < 2) {
      this._point(k);
      if (this.at === 1) this._say("Here single blocks go: pick p̈ on the diagonal of the matrix.");
      return;
    }
    const members = this._left(k);
    if (!members.length) {
      this._say(`Body ${this._name(k)} is eliminated already. Undo goes back.`);
      return;
    }
    const wrong = this._why(k);
    const record = this.session.eliminate(members);
    if (record.refused) this._say(`That cannot go yet: ${this._plain(record.refused)}.`);
    else this._after(this.at === 3 ? this._judged(k, record, wrong) : this._filled(record, `body ${this._name(k)}`));
  }

  _plain(text) {
    return text.replace(/(pdd|qdd|f)_(\w+)/g, (_, kind) => ({ pdd: "p̈", qdd: "q̈" })[kind] ?? "f");
  }

  _filled(record, what) {
    const rest = this.session.engine.done ? ` All are eliminated: ${this.session.engine.fill} blocks of fill in all.` : "";
    return `${what[0].toUpperCase()}${what.slice(1)} is gone. What it was coupled with is coupled now, and that fills ${filled(this.session.engine, record)} (orange).${rest}`;
  }

  // Children that still hang on a body that goes: the reason for its fill.
  _why(k) {
    const { parent } = this.session.data.structures.whole;
    const hang = parent.map((p, c) => (p === k ? c : -1)).filter((c) => c >= 0 && this._left(c).length);
    if (!hang.length) return "";
    const sides = [...hang, ...(parent[k] >= 0 ? [parent[k]] : [])].map((c) => this._name(c));
    return `Body ${hang.map((c) => this._name(c)).join(" and ")} still hung on it, so that ${sides.length > 1 ? `what it was joined to (${sides.join(", ")}) is` : `rows of body ${sides[0]} are`} coupled now`;
  }

  _judged(k, record, wrong) {
    const { engine, known, data } = this.session;
    if (!engine.done) return wrong ? `${wrong}: ${plural(record.fill.length, "block")} of fill. Undo, and begin where nothing hangs on.` : this._filled(record, `body ${this._name(k)}`);
    const [abm, crbm] = ["abm", "crbm"].map((name) => data.orders.find((order) => order.name === name));
    if (known?.order !== abm) {
      const least = engine.fill === abm.fill ? `no sequence fills less, but one takes only ${abm.flops}` : `it can be done with ${abm.fill} blocks of fill and ${abm.flops} operations`;
      return `${plural(engine.fill, "block")} of fill, ${this.session.cost}: ${least}. ${wrong || "An earlier body went while another still hung on it"}.`;
    }
    const ten = this.data.ten;
    return `This is ABM, the articulated body method: ${engine.fill} blocks of fill, ${abm.flops} operations. CRBM, all joints last, fills ${crbm.fill} and takes ${crbm.flops}: on three links it is cheaper all the same. On ten, ABM takes ${ten.abm.toLocaleString("en")} and CRBM ${ten.crbm.toLocaleString("en")}.`;
  }

  _run(name) {
    const { session } = this;
    session.choose(name);
    session.jump(session.length);
    this.look.heat = false;
    const { engine, model } = session;
    const last = model.failed;
    const answer = session.answer();
    const base = session.data.structures.whole.parent.indexOf(-1);
    const own = model.pivots.find(({ block }) => block === QDD * engine.graph.n + base);
    const digits = (-Math.log10(unit("float32"))).toFixed(1);
    const kept = last ? "no digit is left" : `${(answer?.digits ?? 0).toFixed(1)} of ${digits} digits are kept`;
    this._after(`${name.toUpperCase()}: the light slider's pivot is ${own.values[0].toPrecision(1)}; on paper it is 1. In float32 ${kept}.`);
  }
}
