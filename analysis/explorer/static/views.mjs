// Below the matrix: what the colours mean, the two trees, and curves over the steps.

import { h, plural, replaced } from "./dom.mjs";
import { Labels } from "./labels.mjs";
import { curveOf } from "./session.mjs";
import { lostText } from "./scene.mjs";
import { bodyScene, curveScene, eliminationScene } from "./linked.mjs";
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
    const entries = [
      ["block of the matrix", [rect("entry")]],
      ["fill", [rect("fill", { hatch: "fillHatch" })]],
      ["fill of this step", [rect("new", { line: "ink", lw: 2 })]],
      ["pivot", [{ t: "ellipse", x: 10, y: 10, rx: 7, ry: 7, c: "ink", lw: 2 }]],
      ["would be filled", [rect("ghost", { line: "new", lw: 2, dash: true })]],
      ["eliminated", [rect("shade")]],
    ];
    this.heat = h("span", { class: "legend-heat" });
    this.key = h("p", { class: "soft" });
    this.node = h("div", { class: "legend" }, ...entries.map(([text, items]) => h("span", {}, swatch(items), text)), this.heat, this.key);
  }

  draw(session, look) {
    const { engine, model } = session;
    const names = engine.graph.blocks.length <= 40 ? new Labels(engine, 0).key() : "";
    this.key.textContent = names && `Bodies: ${names}.`;
    const most = look.digits();
    const shown = look.heat && model.high;
    const boxes = shown ? [0, 1, 2, 3, 4, 5].map((level) => {
      const box = h("span", { class: "heat" }, lostText((level * most) / 6));
      box.style.background = colour(`heat${level}`);
      box.style.color = colour(level > 2 ? "heatInk" : "ink");
      return box;
    }) : [];
    const none = look.heat ? `no heat: ${model.why || "float64 has no shadow on this page"}` : "";
    replaced(this.heat, ...boxes, shown ? " digits lost" : none);
  }
}

export class Views {
  // eliminate(members): a body's blocks, picked in its tree
  constructor(data, eliminate) {
    this.data = data;
    this.eliminate = eliminate;
    this.known = new Map();
    this.bodies = h("figure", { class: "view" });
    this.tree = h("figure", { class: "view" });
    this.curve = h("figure", { class: "view wide" });
    this.node = h("div", { class: "views" }, this.bodies, this.tree, this.curve);
  }

  draw(session, mirror, focused) {
    const { engine } = session;
    this.session = session;
    const labels = new Labels(engine, 0); // names of unknowns do not change
    const gone = engine.graph.structure.names.filter((_, k) => engine.gone[k]).length;
    this.scene = bodyScene(engine, labels, WIDTH, HEIGHT, focused === null ? -1 : engine.graph.body(focused));
    const bodies = drawn(this.bodies, "Multibody tree, base below", this.scene, `Multibody tree: ${gone} of ${plural(engine.graph.n, "body")} eliminated`);
    bodies.addEventListener("click", (event) => this._pick(event, bodies));
    const tree = eliminationScene(engine, labels, WIDTH, HEIGHT);
    drawn(this.tree, "Elimination tree, last pivot on top", tree, `Elimination tree of ${plural(tree.nodes.length, "pivot")}`);
    const other = mirror ? `; ${mirror.title}: fill ${mirror.engine.fill}` : "";
    drawn(this.curve, "Along the steps", this._curves(session, mirror), `Fill ${engine.fill} and ${Math.round(engine.flops)} operations after step ${engine.step}${other}`);
  }

  // A click on a body makes what is left of it the next bracket.
  _pick(event, image) {
    const { left, top, width } = image.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top].map((v) => (v * WIDTH) / width);
    const hit = this.scene.nodes.find(([nx, ny]) => Math.hypot(nx - x, ny - y) <= this.scene.r + 5);
    const { engine } = this.session;
    const members = hit ? engine.left.filter((b) => engine.graph.body(b) === hit[2]) : [];
    if (members.length) this.eliminate(members);
  }

  _curves(session, mirror) {
    const both = [session, mirror].filter(Boolean);
    const looks = [{ c: "s0", marker: "circle" }, { c: "s1", marker: "square", dash: true }];
    const lines = (value) =>
      both.map((s, at) => {
        const so = [{ fill: 0, flops: 0 }];
        for (const r of s.engine.steps) so.push({ fill: so.at(-1).fill + r.fill.length, flops: so.at(-1).flops + r.flops });
        const whole = s.onPlan ? this._whole(s) : [];
        const list = whole.length > so.length ? whole : so;
        return { points: list.map((p, x) => [x, value(p)]), ...looks[at] };
      });
    const panels = [{ title: "fill [blocks]", lines: lines((p) => p.fill) }, { title: "operations", lines: lines((p) => p.flops) }];
    if (this.data.entries) {
      const lost = both.map((s, at) => ({
        points: s.engine.steps.map((r, x) => [x + 1, r.lost?.digits]).filter(([, y]) => Number.isFinite(y)),
        ...looks[at],
      }));
      panels.push({ title: `digits lost, ${session.format}`, lines: lost });
    }
    const steps = Math.max(...both.map((s) => s.length), 1);
    return curveScene(panels, steps, session.engine.step, 640, 150);
  }

  _whole(session) {
    const { name } = session;
    if (!this.known.has(name)) this.known.set(name, curveOf(this.data, session.order(name)));
    return this.known.get(name);
  }
}

function drawn(host, title, scene, told) {
  const image = h("div", { role: "img", "aria-label": told });
  image.innerHTML = svgText(scene, colour);
  replaced(host, h("figcaption", {}, title), image);
  return image;
}
