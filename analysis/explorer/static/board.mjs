// One matrix on the page, drawn as SVG; a grid for the keyboard.

import { h } from "./dom.mjs";
import { Labels } from "./labels.mjs";
import { MANY, blockAt, matrixScene, overlayScene } from "./scene.mjs";
import { svgText } from "./render.mjs";

let boards = 0;

// The matrix of a session as it is looked at.
export function sceneOf(session, look, side) {
  const { engine, model } = session;
  const labels = () => look.labelled?.(session) ?? new Labels(engine);
  const heat = look.heat && model.shadowed ? (i, j) => model.lost(i, j) : null;
  return matrixScene(engine, { side, order: look.order, labels, heat, most: look.digits(), fat: look.fat, folded: look.folded });
}

export class Board {
  /** @type {any} */
  actions; called; lit; look; preview; session; strip; told;

  // actions: { pick(i, j), hover(i, j or null), describe(i, j) }; none in a mirror board
  constructor(session, look, actions = null, strip = null) {
    Object.assign(this, { session, look, actions, strip, cursor: null, hovered: null, preview: null, lit: [] });
    this.id = `cell-${++boards}`;
    this.base = h("div", { class: "layer" });
    this.over = h("div", { class: "layer over" });
    this.cell = h("div", { id: this.id, role: "gridcell", class: "hidden" });
    const keyed = actions && { role: "grid", tabindex: "0", "aria-activedescendant": this.id };
    const told = { class: "grid", role: "img", "aria-label": "Block matrix", ...keyed };
    const row = actions && h("div", { role: "row", class: "hidden" }, this.cell);
    this.grid = h("div", told, this.base, this.over, row);
    this.heading = h("h2", {});
    this.port = h("div", { class: "port" }, this.grid); // which a larger matrix is moved behind
    this.node = h("figure", { class: "board" }, this.heading, this.port, strip?.node);
    if (actions) this._listen();
  }

  _listen() {
    const at = (event) => {
      const { left, top, width } = this.grid.getBoundingClientRect();
      const scale = this.scene.width / width;
      return blockAt(this.scene, (event.clientX - left) * scale, (event.clientY - top) * scale);
    };
    this.grid.addEventListener("pointermove", (event) => this._hover(at(event)));
    this.grid.addEventListener("pointerleave", () => this._hover(null));
    this.grid.addEventListener("click", (event) => {
      const block = at(event);
      if (!block) return;
      this.cursor = block;
      this.shown = false;
      // a finger cannot point: its first tap shows what the second would do
      const first = event.pointerType === "touch" && this.tapped !== block.join();
      this.tapped = first ? block.join() : null;
      if (first) this._hover(block);
      else this.actions.pick(...block);
    });
    this.grid.addEventListener("focus", () => {
      this.shown = this.grid.matches(":focus-visible");
      this.cursor = (this.shown ? null : this.hovered) ?? this.cursor ?? [this.scene.rows[0], this.scene.rows[0]];
      this._say();
    });
    this.grid.addEventListener("blur", () => {
      this.shown = false;
      this.overlay();
    });
    this.grid.addEventListener("keydown", (event) => this._key(event));
  }

  _hover(block) {
    if (block?.join() === this.hovered?.join()) return;
    this.hovered = block;
    this.actions.hover(...(block ?? [null, null]));
  }

  _key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { rows, place } = this.scene;
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (move) {
      const bounded = (x) => Math.max(0, Math.min(rows.length - 1, x));
      const [i, j] = this.cursor ?? [rows[0], rows[0]];
      // along the diagonal while Shift is held: the blocks that are pivots
      const step = event.shiftKey ? [move[0] + move[1], move[0] + move[1]] : move;
      this.cursor = [rows[bounded(place.get(i) + step[0])], rows[bounded(place.get(j) + step[1])]];
      this.shown = true;
      this._say();
    } else if (event.key === "Enter" || event.key === " ") this.actions.pick(...this.cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  _say() {
    this.actions.hover(...this.cursor);
    this.cell.setAttribute("aria-label", this.actions.describe(...this.cursor));
    this.grid.dataset.cell = this.cursor.map((b) => this.session.engine.graph.name(b)).join(" ");
  }

  // Draw the matrix anew; side in CSS pixels of the part that is seen; the bracket that is marked in
  // the order.
  draw(side, different = -1) {
    const { session, look } = this;
    const zoom = look.zoom ?? 1;
    const { engine } = session;
    this.scene = sceneOf(session, look, side * zoom);
    this.labels = this.scene.labels;
    this.large = look.large = this.scene.rows.length > MANY;
    this.port.style.maxWidth = `${side}px`;
    this.port.classList.toggle("zoomed", zoom > 1);
    this.grid.style.width = `${100 * zoom}%`;
    this.heading.textContent = this.called ?? session.title;
    this.grid.setAttribute("aria-label", `Block matrix of ${session.title}, step ${engine.step}`);
    for (const count of ["aria-rowcount", "aria-colcount"])
      if (this.actions) this.grid.setAttribute(count, this.scene.rows.length);
    this._put(this.base, this.scene);
    this.strip?.draw(session, different);
    this.overlay();
    if (this.cursor && this.actions)
      this.cell.setAttribute("aria-label", this.actions.describe(...this.cursor));
  }

  overlay(marked = []) {
    const scene = overlayScene(this.session.engine, this.scene, {
      pending: this.session.pending,
      preview: this.preview,
      marked,
      lit: this.lit,
      cursor: this.shown ? this.cursor : null,
    });
    this._put(this.over, scene);
  }

  _put(host, scene) {
    host.innerHTML = svgText(scene, (name) => `var(--pt-${name})`);
  }
}
