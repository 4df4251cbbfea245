// The explorer: equation (4), eliminated by hand.  mount(element, data, { onOrder }) is all
// that a shell needs: a page, a notebook or a local server.

import { button, h, para, plural, replaced } from "./dom.mjs";
import { Board } from "./board.mjs";
import { addressOf, readAddress } from "./address.mjs";
import { Boards } from "./boards.mjs";
import { Session } from "./session.mjs";
import { listingPanel } from "./listing.mjs";
import { digitsIn } from "./arithmetic.mjs";
import { orderDocument } from "./exporting.mjs";
import { blockPanel, checkpointPanel, exportPanel, numbersPanel, shareButton } from "./panels.mjs";
import { Controls, Transport, themeButton } from "./controls.mjs";
import { Legend, Views } from "./views.mjs";
import { Actions } from "./actions.mjs";
import { actionOf, helpDialog } from "./help.mjs";
import { described } from "./words.mjs";
import { listenForFiles, openAddressed, openFile } from "./opened.mjs";
import { mountLarge } from "./large.mjs";
import { Robot } from "./robot.mjs";
import { Story } from "./story.mjs";
import { Numerals } from "./numbers.mjs";
import { Strip } from "./strip.mjs";

const FIRST = "Pick a block on the diagonal to eliminate it, or step along the order. Point at a block, tap it once, or press M and the arrow keys, to see what it would do.";
const WHOLE = 150; // bodies that are drawn block by block
const WRITTEN = 24; // rows of any matrix whose numbers stand in its cells

// Build the explorer into an element.
//   data      the document "pivotree-explorer/1"
//   onOrder   is told of every change: { code, groups: [[[kind, body], ...], ...], complete, links, rules }
//   hash      whether the order is kept in the address: a page inside a notebook (srcdoc) may not change its own
// Returns { order(), setOrder(code), destroy(), explorer }.
export function mount(element, data, { onOrder = () => {}, hash = location.protocol !== "about:" } = {}) {
  if (data.schema !== "pivotree-explorer/1")
    throw new Error(`data: schema ${data.schema} is not pivotree-explorer/1`);
  if (data.bodies > WHOLE) return mountLarge(element, data, { onOrder, mount });
  const explorer = new Explorer(element, data, { onOrder, hash });
  return {
    explorer,
    order: () => orderDocument(explorer.session),
    setOrder: (code) => explorer.go(code),
    destroy: () => explorer.destroy(),
  };
}

class Explorer extends Actions {
  data; element; options; story;

  constructor(element, data, options) {
    super();
    Object.assign(this, { element, data, options, playing: 0, focused: [null, null] });
    this.session = new Session(data);
    this.look = {
      order: data.bodies > 30 ? "pivots" : "body", // the fill of a large tree is seen as it is made
      heat: false,
      folded: [], // bodies whose limbs are one block each
      zoom: 1,
      centre: [0, 0], // of the part that is seen, in parts of what is hidden
      digits: () => digitsIn(this.session.format),
    };
    if (this.session.engine.graph.plain && data.dof <= WRITTEN) this.look.labelled = (session) => new Numerals(session);
    this.usual = { format: this.session.format, rows: this.look.order, names: this.session.names };
    this._build();
    this.stop = new AbortController();
    const { signal } = this.stop;
    // on a page of its own the keys work wherever nothing else has the focus
    const heard = options.hash ? document : this.root;
    heard.addEventListener("keydown", (event) => this._key(event), { signal });
    listenForFiles(this, signal);
    this.resizing = new ResizeObserver(() => Math.abs(this.boards.node.clientWidth - this.boards.width) > 1 && this.draw());
    this.resizing.observe(this.boards.node);
    if (options.hash) addEventListener("hashchange", () => this._fromHash(), { signal });
    if (options.hash && this._fromHash()) return;
    if (data.story && (data.scene || (options.hash && location.hash !== "#tool"))) {
      this._scene((data.scene ?? 1) - 1);
      return;
    }
    this.show(FIRST);
  }

  destroy() {
    this.stop.abort();
    this.resizing.disconnect();
    clearTimeout(this.waiting);
    clearTimeout(this.settling);
    this._play(false);
    this.story?.destroy();
    this.robot?.destroy();
    this.element.replaceChildren();
  }

  // Colours in use, by name: those of the theme that is seen, light on paper.
  palette() {
    const style = getComputedStyle(this.root);
    const known = {};
    return new Proxy(known, {
      get: (_, name) => (known[String(name)] ??= style.getPropertyValue(`--pt-${String(name)}`).trim()),
    });
  }

  _build() {
    const { data } = this;
    const say = (...told) => this.say(...told);
    this.status = h("p", { class: "status", role: "status", "aria-live": "polite" });
    this.strip = new Strip({
      arranged: (refused, changed) => this._arranged(refused, changed),
      go: (step) => this.jump(step),
      light: (blocks) => this.light(blocks),
    });
    const board = {
      pick: (i, j) => this.pick(i, j),
      hover: (i, j) => this._focus(i, j),
      describe: (i, j) => described(this.session, this.board, i, j),
    };
    this.board = new Board(this.session, this.look, board, this.strip);
    this.boards = new Boards(this.board, this.look);
    this.board.port.addEventListener("scroll", () => this._scrolled());
    this.block = blockPanel();
    this.numbers = numbersPanel((name) => this.choose(name));
    const session = () => this.session;
    const back = (code, name) => this.go(code, `Back at checkpoint ${name}.`);
    this.checkpoints = checkpointPanel(session, back, (code, name) => this.beside(code, name), say);
    this.listing = listingPanel(session, say);
    const palette = () => data.palette?.light ?? this.palette();
    this.exports = exportPanel(session, this.look, palette, say, () => this.draw(), (file) => openFile(this, file));
    this.controls = new Controls(this);
    this.transport = new Transport(this);
    this.legend = new Legend();
    this.views = new Views(data, {
      mark: (blocks) => this.light(blocks),
      focus: (b) => this._focus(b, b),
      pick: (b) => (this.session.engine.gone[b] ? this.jump(this.session.engine.gone[b]) : this.pick(b, b)),
      go: (step) => this.jump(step),
    });
    if (Robot.fits(data))
      this.robot = new Robot(data, {
        point: (k) => this.light(this.session.engine.graph.own(k)),
        pick: (k) => this._bracketOf(k),
      });
    this.scenes = h("div", { class: "scene", hidden: true });
    this.help = helpDialog(this.session.engine.graph.plain);
    const panels = [this.block, this.numbers, this.listing, this.checkpoints, this.exports];
    const beside = h("div", { class: "beside" }, this.robot?.node, this.views.node);
    const left = h("div", { class: "left" }, this.boards.node, this.legend.node, beside);
    this.root = h(
      "div",
      { class: "pivotree", "data-theme": "auto" },
      this._header(),
      this.scenes,
      this.controls.node,
      this.transport.node,
      this.status,
      h("div", { class: "main" }, left, h("aside", {}, ...panels.map(({ node }) => node))),
      ...(data.notes ?? []).map((note) => para("soft", note)),
      this.help,
    );
    replaced(this.element, this.root);
  }

  _header() {
    const { model, bodies, dof } = this.data;
    const size = `${plural(bodies, "body")}, ${plural(dof, "degree")} of freedom`;
    const help = button("?", "Help and keys", () => this.act("help"));
    const robot = `The equations of motion of ${model} (${size}) as one matrix of blocks`;
    const matrix = `The symmetric matrix ${model} (${plural(bodies, "block")}, ${plural(dof, "unknown")})`;
    const told = `${this.session.engine.graph.plain ? matrix : robot}. Every order of eliminating it gives the same answer; fill, cost and lost digits differ.`;
    const title = h("div", {}, h("h1", {}, "In which order would you eliminate?"), para("soft about", told));
    const story = this.data.story
      ? button("Seven scenes", "Seven scenes, from three numbers a body to your robot", () => this._scene(0), { class: "to-story" })
      : null;
    const share = this.options.hash ? shareButton(this.data, (...said) => this.say(...said)) : null;
    return h("header", {}, title, h("div", { class: "row" }, story, share, themeButton(this), help));
  }

  // -- the story ---------------------------------------------------------------------------------

  // Show a scene in the place of the tool; the tool stays as it was.
  _scene(at, code = "") {
    this._play(false);
    this.story ??= new Story(this.data, this.look, {
      tool: () => this._tool(),
      moved: (scene, steps) => this.options.hash && history[location.hash && !location.hash.startsWith(`#scene=${scene}`) ? "pushState" : "replaceState"](null, "", `#scene=${scene}${steps && `&steps=${steps}`}`),
    });
    replaced(this.scenes, this.story.node);
    this.root.dataset.mode = "story";
    this.scenes.hidden = false;
    this.story.go(at, code);
  }

  _tool() {
    this.lasting ??= ""; // the scene stays behind in the history
    delete this.root.dataset.mode;
    this.scenes.hidden = true;
    this.scenes.replaceChildren();
    this.show(this.status.textContent || FIRST);
  }

  // The same blocks stand out wherever they are shown: in matrix, order, graph and robot.
  light(blocks) {
    const { graph } = this.session.engine;
    this.board.lit = blocks;
    this.board.overlay();
    this._mark(blocks, graph);
  }

  _mark(blocks, graph, preview = null) {
    this.strip.mark(blocks);
    this.views.mark(blocks, preview);
    this.robot?.mark(blocks.flatMap((b) => graph.bodies(b)));
  }

  _fromHash() {
    const said = new URLSearchParams(location.hash.slice(1));
    if (said.has("scene") && this.data.story) {
      this._scene(Number(said.get("scene")) - 1 || 0, said.get("steps") ?? "");
      return true;
    }
    if (!said.has("order")) return false;
    if (openAddressed(this)) return false;
    this._restore(readAddress(location.hash, this));
    return true;
  }

  _restore({ code, beside, format, rows, heat, names, folded, frame, zoom, centre, unknown }) {
    const { session, boards, look } = this;
    delete this.root.dataset.mode;
    this.scenes.hidden = true;
    this._play(false);
    session.names = names;
    if (format !== session.format || frame !== session.frame) session.rebuilt(format, frame);
    session.engine.graph.named = names;
    Object.assign(look, { order: rows, heat, folded, zoom, centre });
    const misfit = code === session.code || session.setCode(code) ? [] : [code];
    for (const board of [...boards.mirrors]) boards.remove(board);
    for (const other of beside) if (!this.beside(other)) misfit.push(other);
    this.draw();
    const told = unknown.length ? `This page does not have the ${unknown.join(", the ")} of the address. ` : "";
    if (misfit.length) this.say(`${told}The order ${misfit[0]} does not fit this model.`, true);
    else this.say(`${told}Step ${session.engine.step} of ${session.title}.`, Boolean(told));
  }

  _scrolled() {
    const { port } = this.board;
    const part = (at, whole, seen) => (whole > seen ? at / (whole - seen) : 0);
    this.look.centre = [part(port.scrollLeft, port.scrollWidth, port.clientWidth), part(port.scrollTop, port.scrollHeight, port.clientHeight)];
    for (const { port: other } of this.boards.mirrors) other.scrollTo(port.scrollLeft, port.scrollTop);
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this._write(), 200);
  }

  // Write all that is seen to the address.
  _write() {
    if (!this.options.hash || this.root.dataset.mode) return;
    const { hash, lasting } = addressOf(this);
    const anew = this.lasting !== undefined && lasting !== this.lasting && hash !== location.hash;
    this.lasting = lasting;
    if (hash !== location.hash) history[anew ? "pushState" : "replaceState"](null, "", hash);
  }

  // A block is pointed at, or reached with the keys.
  _focus(i, j) {
    this.focused = [i, j];
    const { session, board } = this;
    const gone = i !== null && (session.engine.gone[i] || session.engine.gone[j]);
    const limb = this._limbAt(i, j);
    board.preview = i === null || gone || limb?.apart ? null : limb ? session.foresee(i) : session.preview(i, j);
    board.overlay(i === null ? [] : [[i, j]]);
    this._mark(i === null ? [] : [i, j], session.engine.graph, board.preview);
    this.block.show(session, board.labels, i, j, board.preview, limb?.told);
  }

  _key(event) {
    const { target } = event;
    const does = actionOf(event);
    if (!does || this.root.querySelector("dialog[open]") || (target !== document.body && !this.root.contains(target))) return;
    event.preventDefault();
    if (!this.root.dataset.mode) this.act(does);
    else if (does === "undo") this.story.undo();
    else if (does === "matrix") this.story.board.grid.focus();
  }

  // -- drawing ----------------------------------------------------------------------------------

  // ``later``: the rest follows once the matrix and the order are seen.
  draw(later = false) {
    const { session } = this;
    if (this.root.dataset.mode) {
      this.story.draw();
      return;
    }
    this.boards.draw();
    const [x, y] = this.look.centre;
    for (const { port } of this.look.zoom > 1 ? [this.board, ...this.boards.mirrors] : [])
      port.scrollTo(x * (port.scrollWidth - port.clientWidth), y * (port.scrollHeight - port.clientHeight));
    this.robot?.pose(session.model.given);
    this.robot?.draw(session.engine);
    this.robot?.named((k) => this.strip.labels.subscript.get(k) ?? this.data.structures.whole.names[k]);
    const [i, j] = this.focused;
    this._focus(i, j);
    this.transport.draw(session, this.playing);
    this.controls.draw(session, this.look);
    this.legend.draw(session, this.look);
    clearTimeout(this.waiting);
    if (later || this.board.large) this.waiting = setTimeout(() => this._drawRest(), 40);
    else this._drawRest();
  }

  _drawRest() {
    const { session } = this;
    const { engine } = session;
    this.numbers.show(session);
    this.listing.show();
    this.views.draw(session, this.focused[0]);
    this._write();
    const { links, rules } = session.form;
    this.options.onOrder({ code: session.code, groups: session.named(), complete: engine.done, links, rules });
  }
}
