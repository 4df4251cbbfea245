// Below the matrix what the colours mean; beside it the elimination graph and the elimination tree.

import { h, plural, replaced } from "./dom.mjs";
import { Labels } from "./labels.mjs";
import { NAMED, lostText } from "./scene.mjs";
import { eliminationScene, graphScene } from "./linked.mjs";
import { svgText } from "./render.mjs";

const [WIDTH, HEIGHT] = [300, 200];
const colour = (name) => `var(--pt-${name})`;

export class Legend {
  constructor() {
    const swatch = (items) => {
      const box = h("span", { class: "swatch" });
      box.innerHTML = svgText({ width: 20, height: 20, items }, colour);
      return box;
    };
    const rect = (c, more = {}) => ({ t: "rect", x: 2, y: 2, w: 16, h: 16, c, ...more });
    this.entry = (large) => swatch([rect(large ? "entryStrong" : "entry")]);
    this.first = h("span", {}, this.entry(false), "block of the matrix");
    const entries = [
      ["fill", [rect("fill", { hatch: "fillHatch" })]],
      ["fill of this step", [rect("new", { line: "ink", lw: 2 })]],
      ["pivot", [{ t: "ellipse", x: 10, y: 10, rx: 7, ry: 7, c: "ink", lw: 2 }]],
      ["would be filled", [rect("ghost", { line: "new", lw: 2, dash: true })]],
      ["eliminated", [rect("shade")]],
    ];
    this.heat = h("span", { class: "legend-heat" });
    this.key = h("p", { class: "soft" });
    const rest = entries.map(([words, items]) => h("span", {}, swatch(items), words));
    this.node = h("div", { class: "legend" }, this.first, ...rest, this.heat, this.key);
  }

  draw(session, look) {
    const { engine, model } = session;
    this.first.replaceChild(this.entry(look.large), this.first.firstChild);
    const names = engine.graph.blocks.length <= NAMED ? new Labels(engine, 0).key() : "";
    this.key.textContent = names && `${engine.graph.plain ? "Blocks" : "Bodies"}: ${names}.`;
    const most = look.digits();
    const shown = look.heat && model.shadowed;
    const boxes = shown
      ? [0, 1, 2, 3, 4, 5].map((level) => {
          const edge = lostText(((level || 1) * most) / 6);
          const box = h("span", { class: "heat" }, (level ? "≥ " : "< ") + edge);
          box.style.background = colour(`heat${level}`);
          box.style.color = colour(level > 2 ? "heatInk" : "ink");
          return box;
        })
      : [];
    const none = look.heat ? `no heat: ${model.why || "float64 has no shadow on this page"}` : "";
    replaced(this.heat, ...boxes, shown ? " digits lost" : none);
  }
}

export class Views {
  actions; data;

  // actions: mark(blocks) of the matrix; focus(b or null), pick(b), of an unknown in the graph; go(step)
  constructor(data, actions) {
    Object.assign(this, { data, actions });
    this.graph = h("figure", { class: "view" });
    this.tree = h("figure", { class: "view" });
    this.node = h("div", { class: "views" }, this.graph, this.tree);
  }

  draw(session, focused) {
    const { engine } = session;
    this.session = session;
    const labels = new Labels(engine, 0); // names of unknowns do not change
    this.scenes = [graphScene(engine, labels, WIDTH), eliminationScene(engine, labels, WIDTH, HEIGHT)];
    const left = `Elimination graph: ${plural(engine.left.length, "unknown")} left`;
    const graph = drawn(this.graph, `Elimination graph${engine.graph.plain ? "" : ", base on top"}`, this.scenes[0], left);
    const pivots = `Elimination tree of ${plural(this.scenes[1].nodes.length, "pivot")}`;
    const tree = drawn(this.tree, "Elimination tree, last pivot on top", this.scenes[1], pivots);
    this.images = [graph, tree];
    const clicked = [(b) => this.actions.pick(b), (pivot) => this.actions.go(engine.gone[pivot[0]])];
    this.images.forEach((image, at) => {
      image.addEventListener("pointermove", (event) => this._point(event, at));
      image.addEventListener("pointerleave", () => this._left());
      image.addEventListener("click", (event) => {
        const hit = this._hit(event, at);
        if (hit !== null) clicked[at](hit);
      });
    });
    this.mark(focused === null ? [] : [focused]);
  }

  _left() {
    this.pointed = null;
    this.actions.focus(null);
    this.actions.mark([]);
  }

  // Show where blocks are: rings around them, and around their pivots; what a pivot would couple.
  mark(blocks, preview = null) {
    if (!this.images) return;
    const wanted = [(b) => blocks.includes(b), (members) => members.some((b) => blocks.includes(b))];
    this.images.forEach((image, at) => {
      const { nodes, r, width, height, foretold } = this.scenes[at];
      const wide = foretold ? r + 3 : 1.6 * r + 3;
      const items = [
        ...(foretold && preview && !preview.refused ? foretold(preview) : []),
        ...nodes
          .filter(([, , what]) => wanted[at](what))
          .map(([x, y]) => ({ t: "ellipse", x, y, rx: wide, ry: foretold ? wide : r + 4, c: "focus", lw: 2 })),
      ];
      image.querySelector(".over").innerHTML = items.length ? svgText({ width, height, items }, colour) : "";
    });
  }

  _hit(event, at) {
    const { left, top, width } = this.images[at].getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top].map((v) => (v * WIDTH) / width);
    const { nodes, r } = this.scenes[at];
    return nodes.find(([nx, ny]) => Math.hypot(nx - x, ny - y) <= r + 5)?.[2] ?? null;
  }

  _point(event, at) {
    const hit = this._hit(event, at);
    if (at) this.actions.mark(hit ?? []);
    else if (hit !== this.pointed) this.actions.focus((this.pointed = hit));
  }
}

function drawn(host, title, scene, told) {
  const base = h("div", {});
  base.innerHTML = svgText(scene, colour);
  const over = h("div", { class: "layer over" });
  const image = h("div", { role: "img", "aria-label": told, class: "image" }, base, over);
  replaced(host, h("figcaption", {}, title), image);
  return image;
}
