// The explorer: equation (4), eliminated by hand.  mount(element, data, { onOrder, live }) is all
// that a shell needs: a page, a notebook or a local server.

import { button, h, plural, replaced, select } from "./dom.mjs";
import { Board } from "./board.mjs";
import { Labels } from "./labels.mjs";
import { Session, curveOf } from "./session.mjs";
import { LAYOUTS, lostText } from "./scene.mjs";
import { FORMATS, unit } from "./arithmetic.mjs";
import { bodyScene, curveScene, eliminationScene } from "./linked.mjs";
import { svgText } from "./render.mjs";
import { spoken } from "./mathml.mjs";
import { orderDocument } from "./exporting.mjs";
import { blockPanel, challengePanel, checkpointPanel, exportPanel, foretold, numbersPanel } from "./panels.mjs";
import { helpDialog, KEYS } from "./help.mjs";
import { mountLarge } from "./large.mjs";

const WHOLE = 150; // bodies that are drawn block by block

// Build the explorer into an element.  data: the document "pivotree-explorer/1".  onOrder is told
// of every change, as { code, groups, complete }; live, where there is Python behind the page, has
// ``evaluate(groups, format)``, a promise of { error, digits }.  ``hash`` false leaves the address alone.
// Returns { order, setOrder, explorer, destroy }.
export function mount(element, data, { onOrder = () => {}, live = null, hash = true } = {}) {
  if (data.schema !== "pivotree-explorer/1") throw new Error(`data: schema ${data.schema} is not pivotree-explorer/1`);
  if (data.bodies > WHOLE) return mountLarge(element, data, { onOrder, live, mount });
  const explorer = new Explorer(element, data, { onOrder, live, hash });
  return {
    explorer,
    order: () => orderDocument(explorer.session),
    setOrder: (code) => explorer.go(code),
    destroy: () => explorer.destroy(),
  };
}

class Explorer {
  constructor(element, data, options) {
    Object.assign(this, { element, data, options, playing: 0, focused: [null, null] });
    this.session = new Session(data);
    this.mirror = null;
    this.look = {
      order: "body", heat: false,
      digits: () => -Math.log10(unit(this.session.format)),
      colour: (name) => this.palette()[name],
    };
    this.curves = new Map(data.orders.map((order) => [order.name, null]));
    this._build();
    this.stop = new AbortController();
    const { signal } = this.stop;
    this.root.addEventListener("keydown", (event) => this._key(event), { signal });
    new ResizeObserver(() => this._resized()).observe(this.boards);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw(), { signal });
    matchMedia("print").addEventListener("change", () => this.draw(), { signal });
    if (options.hash) addEventListener("hashchange", () => this._fromHash(), { signal });
    if (!options.hash || !this._fromHash()) this.draw();
  }

  destroy() {
    this.stop.abort();
    this._play(false);
    this.element.replaceChildren();
  }

  // Colours in use: of the light theme on paper, else of the theme that is seen.
  palette() {
    const style = getComputedStyle(this.root);
    return new Proxy({}, { get: (_, name) => style.getPropertyValue(`--pt-${name}`).trim() });
  }

  // -- building ---------------------------------------------------------------------------------

  _build() {
    const { data } = this;
    this.status = h("p", { class: "status", role: "status", "aria-live": "polite" });
    this.board = new Board(this.session, this.look, {
      pick: (i, j) => this.pick(i, j),
      hover: (i, j) => this._focus(i, j),
      describe: (i, j) => this._described(i, j),
    });
    this.boards = h("div", { class: "boards" }, this.board.node);
    this.block = blockPanel();
    this.numbers = numbersPanel((name) => this._choose(name));
    this.challenges = challengePanel(data, (text) => this.say(text));
    this.checkpoints = checkpointPanel(() => this.session, (code, name) => this.go(code, `Back at checkpoint ${name}.`), (text) => this.say(text));
    this.exports = exportPanel(() => this.session, this.look, () => data.palette?.light ?? this.palette(), (text) => this.say(text));
    this.bodies = h("figure", { class: "view" });
    this.tree = h("figure", { class: "view" });
    this.curve = h("figure", { class: "view wide" });
    this.help = helpDialog();
    const names = `${plural(data.bodies, "body").replace("bodys", "bodies")}, ${plural(data.dof, "degree")} of freedom`.replace("degrees of", "degrees of");
    this.root = h("div", { class: "pivotree", "data-theme": "auto" },
      h("header", {},
        h("div", {}, h("h1", {}, data.model), h("p", { class: "soft" }, names)),
        h("div", { class: "row" }, this._themeButton(), button("?", "Help and keys", () => this.help.showModal())),
      ),
      this._controls(), this._transport(), this.status,
      h("div", { class: "main" },
        h("div", { class: "left" }, this.boards, this._legend(), h("div", { class: "views" }, this.bodies, this.tree, this.curve)),
        h("aside", {}, this.block.node, this.numbers.node, this.challenges.node, this.checkpoints.node, this.exports.node),
      ),
      ...(data.notes ?? []).map((note) => h("p", { class: "soft" }, note)),
      this.help,
    );
    replaced(this.element, this.root);
  }

  _themeButton() {
    const next = { auto: "dark", dark: "light", light: "auto" };
    const sign = { auto: "◐", dark: "●", light: "○" };
    const made = button(sign.auto, "Theme: as the system", () => {
      const theme = next[this.root.dataset.theme];
      this.root.dataset.theme = theme;
      made.textContent = sign[theme];
      made.title = `Theme: ${theme === "auto" ? "as the system" : theme}`;
      made.setAttribute("aria-label", made.title);
      this.draw();
    });
    return made;
  }

  _controls() {
    const { data } = this;
    const orders = data.orders.map((order) => [order.name, order.name]);
    this.orderList = select("Order", [...orders, ["/whole", "your own"], ["/split", "your own, forces split"]], this.session.name, (value) => this._choose(value));
    this.mirrorList = select("Beside it", [["", "nothing"], ...orders], "", (value) => this._beside(value));
    this.formatList = select("Format", Object.keys(FORMATS).map((f) => [f, f]), this.session.format, (value) => this._rebuild(value, this.session.frame));
    this.layoutList = select("Rows", Object.entries(LAYOUTS), this.look.order, (value) => {
      this.look.order = value;
      this.draw();
    });
    const heat = h("input", { type: "checkbox", onchange: (event) => { this.look.heat = event.target.checked; this.draw(); } });
    this.heatBox = heat;
    const fields = [this.orderList.node, this.mirrorList.node, this.layoutList.node];
    if (data.entries) fields.push(this.formatList.node, h("label", { class: "check" }, heat, " digits lost as heat"));
    if (data.frames) fields.push(...this._sliders());
    return h("div", { class: "controls" }, ...fields);
  }

  _sliders() {
    const { ratio, tilt, frames } = this.data.frames;
    const inputs = [["Mass ratio", ratio, (x) => (x >= 1e4 ? x.toExponential(0).replace("e+", "e") : String(x))], ["Tilt", tilt, (x) => `${x}°`]].map(([label, values, text]) => {
      const output = h("output", {}, "as given");
      const input = h("input", { type: "range", min: "0", max: String(values.length - 1), step: "1", "aria-label": label });
      input.value = "0";
      return { input, output, values, text, node: h("label", { class: "field" }, h("span", {}, label, " ", output), input) };
    });
    const change = () => {
      const [r, t] = inputs.map(({ input }) => Number(input.value));
      for (const { input, output, values, text } of inputs) {
        output.textContent = text(values[input.value]);
        input.setAttribute("aria-valuetext", output.textContent);
      }
      this._rebuild(this.session.format, frames[r * tilt.length + t]);
      this.say(`Mass ratio ${inputs[0].output.textContent}, tilt ${inputs[1].output.textContent}.${this._answered()}`);
    };
    for (const { input } of inputs) input.addEventListener("input", change);
    return inputs.map(({ node }) => node);
  }

  _transport() {
    this.slider = h("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "Step", oninput: (event) => this._jump(Number(event.target.value)) });
    this.counter = h("output", { class: "counter" });
    const b = (text, title, action) => button(text, title, action);
    this.buttons = {
      start: b("Start", "To the start (Home)", () => this._jump(0)),
      undo: b("Undo", "Undo (U)", () => this.undo()),
      redo: b("Redo", "Redo (R)", () => this.redo()),
      step: b("Step", "Next step of the order (N)", () => this.forward()),
      play: b("Play", "Play (P)", () => this._play(!this.playing)),
      end: b("End", "To the end of the order (End)", () => this._jump(this.session.length)),
      bracket: b("( Open bracket", "Open a bracket (B)", () => this._bracket()),
      cancel: b("×", "Leave the bracket (Escape)", () => this._cancel()),
      finish: b("Finish", "Eliminate what is left, tip to base (F)", () => this._finish()),
    };
    const t = this.buttons;
    return h("div", { class: "transport", role: "toolbar", "aria-label": "Steps" }, t.start, t.undo, t.redo, t.step, t.play, t.end, this.slider, this.counter, t.bracket, t.cancel, t.finish);
  }

  _legend() {
    const colour = (name) => `var(--pt-${name})`;
    const swatch = (items) => {
      const box = h("span", { class: "swatch" });
      box.innerHTML = svgText({ width: 20, height: 20, items }, colour);
      return box;
    };
    const rect = (c, more = {}) => ({ t: "rect", x: 2, y: 2, w: 16, h: 16, c, ...more });
    const entries = [
      ["block of the matrix", [rect("entry")]], ["fill", [rect("fill", { hatch: "fillHatch" })]],
      ["fill of this step", [rect("new", { line: "ink", lw: 2 })]], ["pivot", [{ t: "ellipse", x: 10, y: 10, rx: 7, ry: 7, c: "ink", lw: 2 }]],
      ["would be filled", [rect("ghost", { line: "new", lw: 2, dash: true })]], ["eliminated", [rect("shade")]],
    ];
    this.legendHeat = h("span", { class: "legend-heat" });
    this.key = h("p", { class: "soft" });
    return h("div", { class: "legend" }, ...entries.map(([text, items]) => h("span", {}, swatch(items), text)), this.legendHeat, this.key);
  }

  // -- actions ----------------------------------------------------------------------------------

  say(text, refused = false) {
    this.status.textContent = text;
    this.status.classList.toggle("refused", refused);
  }

  pick(i, j) {
    this._play(false);
    this._report(this.session.pick(i, j));
  }

  undo() {
    this._play(false);
    const record = this.session.back();
    this.draw();
    this.say(record ? `Undone: step ${record.step}, ${this._members(record)}.` : "At the start.");
  }

  redo() {
    const record = this.session.model.redo();
    if (record) this._report(record);
    else this.say("Nothing to redo.");
  }

  forward() {
    const record = this.session.forward();
    if (record) this._report(record);
    else this.say(this.session.engine.done ? "All blocks are eliminated." : "No next step: pick a block, or choose an order.");
    return record;
  }

  _jump(step) {
    this._play(false);
    const refused = this.session.jump(step);
    if (refused) this._report(refused);
    this.draw();
    if (!refused) this.say(`Step ${this.session.engine.step} of ${this.session.length}.${this._answered()}`);
  }

  _play(on) {
    clearInterval(this.playing);
    this.playing = on ? setInterval(() => { if (!this.forward()) this._play(false); }, 700) : 0;
    this.buttons.play.textContent = on ? "Pause" : "Play";
    this.buttons.play.setAttribute("aria-pressed", String(Boolean(on)));
  }

  _bracket() {
    if (!this.session.pending) {
      this.session.open();
      this.draw();
      this.say("A bracket is open: pick its blocks, then close it.");
      return;
    }
    const record = this.session.close();
    if (record.empty) {
      this.draw();
      this.say("The bracket was empty.");
    } else this._report(record);
  }

  _cancel() {
    this.session.pending = null;
    this.draw();
    this.say("The bracket is given up.");
  }

  _finish() {
    const refused = this.session.finish();
    if (refused) this._report(refused);
    else {
      this.draw();
      this.say(`Finished in ${plural(this.session.engine.step, "step")}: fill ${this.session.engine.fill}.${this._answered()}`);
    }
  }

  _choose(name) {
    this._play(false);
    this.session.choose(name, name === "/split");
    this.draw();
    const order = this.session.order(name);
    this.say(order ? `${order.name}: ${order.what} ${order.source}. ${plural(order.groups.length, "step")}.` : "Your own order, from the start.");
  }

  _beside(name) {
    this.mirror?.board.node.remove();
    this.mirror = null;
    if (name) {
      const session = new Session(this.data, this.session.format);
      session.rebuilt(this.session.format, this.session.frame);
      session.choose(name);
      this.mirror = { session, board: new Board(session, this.look) };
      this.mirror.board.grid.removeAttribute("tabindex");
      this.boards.append(this.mirror.board.node);
    }
    this.boards.classList.toggle("two", Boolean(name));
    this.draw();
    this.say(name ? `${name} goes in step beside ${this.session.title}.` : "One order is shown.");
  }

  _rebuild(format, frame) {
    for (const session of [this.session, this.mirror?.session].filter(Boolean)) session.rebuilt(format, frame);
    this.draw();
    this.say(`Numbers in ${format}.${this._answered()}`);
  }

  // Go to a shared order; what it says where there is none.
  go(code, text = "") {
    const done = this.session.setCode(code);
    this.draw();
    this.say(done ? text || `Step ${this.session.engine.step} of ${this.session.title}.` : `The order ${code} does not fit this model.`, !done);
    return done;
  }

  _fromHash() {
    const code = new URLSearchParams(location.hash.slice(1)).get("order");
    if (!code || code === this.session.code) return false;
    this.go(code);
    return true;
  }

  // -- words ------------------------------------------------------------------------------------

  _members(record) {
    const { graph } = this.session.engine;
    const names = record.members.map((b) => graph.name(b));
    return `(${names.length > 6 ? [...names.slice(0, 4), "…", names.at(-1)].join(" ") : names.join(" ")})`;
  }

  _report(record) {
    this.draw();
    if (record.refused) this.say(`Refused: ${record.refused}.`, true);
    else if (record.bracket) this.say(record.bracket.length ? `In the bracket: ${record.bracket.map((b) => this.session.engine.graph.name(b)).join(" ")}.` : "The bracket is empty.");
    else {
      const lost = record.lost && this.session.model.high ? `, at most ${lostText(record.lost.digits)} digits lost` : "";
      const flops = Math.round(record.flops).toLocaleString("en");
      this.say(`Step ${record.step}: ${this._members(record)}. ${plural(record.fill.length, "block")} of fill, ${flops} operations${lost}.${this._answered()}`);
    }
  }

  _answered() {
    const answer = this.session.model.answer();
    if (!answer || answer.why) return this.session.engine.done ? " All blocks are eliminated." : "";
    return ` All blocks are eliminated: ${answer.digits.toFixed(1)} digits of qdd kept in ${this.session.format}.`;
  }

  _described(i, j) {
    const { engine } = this.session;
    const label = this.board.labels?.cell(i, j);
    const state = engine.gone[i] || engine.gone[j] ? "eliminated" : "";
    const open = this.session.pending ? ` Bracket open with ${plural(this.session.pending.length, "block")}.` : "";
    const told = this.board.preview && !state ? ` ${foretold(this.session, this.board.preview)}` : "";
    return `row ${engine.graph.name(i)}, column ${engine.graph.name(j)}: ${label ? spoken(label) : ""} ${state}.${told}${open}`;
  }

  // A block is pointed at, or reached with the keys.
  _focus(i, j) {
    this.focused = [i, j];
    const { session, board } = this;
    const gone = i !== null && (session.engine.gone[i] || session.engine.gone[j]);
    board.preview = i === null || gone ? null : session.preview(i, j);
    board.overlay(i === null ? [] : [[i, j]]);
    this.block.show(session, board.labels, i, j, board.preview);
  }

  // -- keys -------------------------------------------------------------------------------------

  _key(event) {
    const typing = event.target.matches("input[type=text], select, textarea");
    const control = event.ctrlKey || event.metaKey;
    const name = control ? `Control+${event.shiftKey ? "Shift+" : ""}${event.key.toLowerCase()}` : event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const sliding = event.target.matches("input[type=range]") && ["Home", "End"].includes(name);
    if (typing || sliding || event.altKey || !(name in KEYS) || this.help.open) return;
    event.preventDefault();
    const act = {
      undo: () => this.undo(), redo: () => this.redo(), step: () => this.forward(), play: () => this._play(!this.playing),
      start: () => this._jump(0), end: () => this._jump(this.session.length), bracket: () => this._bracket(),
      cancel: () => this.session.pending && this._cancel(), finish: () => this._finish(), help: () => this.help.showModal(),
      checkpoint: () => this.checkpoints.focus(), matrix: () => this.board.grid.focus(),
      heat: () => this.heatBox.click(),
    };
    act[KEYS[name].does]();
  }

  // -- drawing ----------------------------------------------------------------------------------

  _resized() {
    const width = this.boards.clientWidth;
    if (Math.abs(width - (this.width ?? 0)) > 1) this.draw();
  }

  draw() {
    const { session, mirror } = this;
    const { engine } = session;
    this.width = this.boards.clientWidth;
    const high = (globalThis.innerHeight || 800) - 90;
    const side = Math.max(240, Math.min(720, mirror ? (this.width - 24) / 2 : this.width, Math.max(420, high)));
    this.board.draw(Math.floor(this.width < 620 ? Math.min(this.width, 720) : side));
    if (mirror) {
      mirror.session.jump(Math.min(engine.step, mirror.session.plan.length));
      mirror.board.draw(Math.floor(this.width < 620 ? this.width : side));
    }
    const [i, j] = this.focused;
    this._focus(i, j);
    this.numbers.show(session);
    this.challenges.show(session);
    this._drawTransport();
    this._drawViews();
    this.orderList.list.value = session.name || (session.form.split ? "/split" : "/whole");
    this.formatList.list.value = session.format;
    if (this.options.hash) history.replaceState(null, "", `#order=${encodeURIComponent(session.code)}`);
    this.options.onOrder({ code: session.code, groups: session.named(), complete: engine.done });
  }

  _drawTransport() {
    const { session, buttons } = this;
    const { engine, model } = session;
    const length = session.length;
    this.slider.max = String(length);
    this.slider.value = String(engine.step);
    this.slider.setAttribute("aria-valuetext", `step ${engine.step} of ${length}`);
    this.counter.textContent = `step ${engine.step} of ${length} · fill ${engine.fill} · ${Math.round(engine.flops).toLocaleString("en")} operations`;
    const pending = session.pending !== null;
    buttons.bracket.textContent = pending ? `) Close bracket of ${session.pending.length}` : "( Open bracket";
    buttons.bracket.setAttribute("aria-pressed", String(pending));
    buttons.cancel.hidden = !pending;
    buttons.undo.disabled = engine.step === 0;
    buttons.start.disabled = engine.step === 0;
    buttons.redo.disabled = model.redoable.length === 0;
    buttons.step.disabled = buttons.play.disabled = buttons.end.disabled = session.next === null;
    buttons.finish.disabled = engine.done;
  }

  _drawViews() {
    const { session, mirror, data } = this;
    const { engine } = session;
    const labels = new Labels(engine);
    const colour = (name) => `var(--pt-${name})`;
    const [i] = this.focused;
    const draw = (host, title, scene, told) => {
      const image = h("div", { role: "img", "aria-label": told });
      image.innerHTML = svgText(scene, colour);
      replaced(host, h("figcaption", {}, title), image);
      return image;
    };
    const gone = engine.graph.structure.names.filter((_, k) => engine.gone[k]).length;
    const bodies = draw(this.bodies, "Multibody tree, base below", bodyScene(engine, labels, 300, 200, i === null ? -1 : engine.graph.body(i)), `Multibody tree: ${gone} of ${plural(engine.graph.n, "body").replace("bodys", "bodies")} eliminated`);
    bodies.addEventListener("click", (event) => this._pickBody(event, bodies));
    const tree = eliminationScene(engine, labels, 300, 200);
    draw(this.tree, "Elimination tree, last pivot on top", tree, `Elimination tree of ${plural(tree.nodes.length, "pivot")}`);
    draw(this.curve, "Along the steps", this._curves(), `Fill ${engine.fill} and ${Math.round(engine.flops)} operations after step ${engine.step}${mirror ? `; ${mirror.session.title}: fill ${mirror.session.engine.fill}` : ""}`);
    this.key.textContent = labels.key() && engine.graph.blocks.length <= 40 ? `Bodies: ${labels.key()}.` : "";
    const most = this.look.digits();
    const heat = this.look.heat && session.model.high;
    replaced(this.legendHeat, ...(heat ? [0, 1, 2, 3, 4, 5].map((level) => {
      const box = h("span", { class: "heat" }, lostText((level * most) / 6));
      box.style.background = colour(`heat${level}`);
      box.style.color = colour(level > 2 ? "heatInk" : "ink");
      return box;
    }) : []), heat ? " digits lost" : this.look.heat ? `no heat: ${session.model.why || "float64 has no shadow here"}` : "");
    if (this.mirror && data) this.mirror.board.node.dataset.step = String(mirror.session.engine.step);
  }

  _curves() {
    const { session, mirror } = this;
    const both = [session, mirror?.session].filter(Boolean);
    const steps = Math.max(...both.map((s) => s.length), 1);
    const lines = (value) => both.flatMap((s, at) => {
      const c = at ? "s1" : "s0";
      const known = s.onPlan ? (this.curves.get(s.name) ?? this._keep(s.name)) : [];
      const so = [{ fill: 0, flops: 0 }];
      for (const r of s.engine.steps) so.push({ fill: so.at(-1).fill + r.fill.length, flops: so.at(-1).flops + r.flops, lost: r.lost?.digits });
      const list = known.length > so.length ? known : so;
      return { points: list.map((p, x) => [x, value(p)]).filter(([, y]) => Number.isFinite(y)), c, dash: at === 1, marker: at ? "square" : "circle" };
    });
    const lost = both.map((s, at) => {
      const points = s.engine.steps.map((r, x) => [x + 1, r.lost?.digits]).filter(([, y]) => Number.isFinite(y));
      return { points, c: at ? "s1" : "s0", dash: at === 1, marker: at ? "square" : "circle" };
    });
    const panels = [{ title: "fill [blocks]", lines: lines((p) => p.fill) }, { title: "operations", lines: lines((p) => p.flops) }];
    if (this.data.entries) panels.push({ title: `digits lost, ${session.format}`, lines: lost });
    return curveScene(panels, steps, session.engine.step, 640, 150);
  }

  _keep(name) {
    const points = curveOf(this.data, this.session.order(name));
    this.curves.set(name, points);
    return points;
  }

  // A click on a body makes what is left of it the next bracket.
  _pickBody(event, image) {
    const { left, top, width } = image.getBoundingClientRect();
    const scale = 300 / width;
    const { engine, model } = this.session;
    const scene = bodyScene(engine, new Labels(engine), 300, 200);
    const [x, y] = [(event.clientX - left) * scale, (event.clientY - top) * scale];
    const hit = scene.nodes.find(([nx, ny]) => Math.hypot(nx - x, ny - y) <= scene.r + 5);
    if (!hit) return;
    const members = engine.left.filter((b) => engine.graph.body(b) === hit[2]);
    if (members.length) this._report(model.eliminate(members));
  }
}
