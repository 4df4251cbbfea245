// Sliders on a line, drawn: each rides on the one below, the first on a rail.  As a Robot on the page.

import { h } from "./dom.mjs";
import { make } from "./robot.mjs";

const [WIDE, HIGH, NARROWER] = [240, 34, 44]; // pixels of the lowest slider, and of those above

export class Sliders {
  constructor(data, actions) {
    const { order } = data.structures.whole;
    const high = (HIGH + 8) * order.length + 26;
    this.svg = make("svg", { viewBox: `0 0 300 ${high}`, role: "img", "aria-label": `${order.length} sliders on a line` });
    this.svg.append(make("path", { class: "ground", d: `M10 ${high - 12}H290` }));
    this.groups = [];
    order.toReversed().forEach((k, level) => {
      const wide = WIDE - NARROWER * level;
      const [x, y] = [24 + 16 * level, high - 22 - (HIGH + 8) * (level + 1)];
      const group = make("g", { class: "body slider" });
      const mass = data.entries.M[k][0];
      const kg = mass >= 1e6 ? `${(mass / 1e3).toLocaleString("en")} t` : `${mass} kg`;
      const text = make("text", { class: "name", x: x + wide / 2, y: y + HIGH / 2 + 4 });
      const title = make("title");
      const wheels = [0.15, 0.85].map((at) => make("circle", { class: "joint", cx: x + at * wide, cy: y + HIGH + 3, r: 5 }));
      group.append(title, make("rect", { class: "link", x, y, width: wide, height: HIGH, rx: 5 }), ...wheels, text);
      group.addEventListener("pointerenter", () => actions.point(k));
      group.addEventListener("pointerleave", () => actions.point(null));
      group.addEventListener("click", () => actions.pick(k));
      this.svg.append(group);
      this.groups[k] = { group, text, title, kg };
    });
    this.node = h("figure", { class: "robot sliders" }, this.svg);
  }

  destroy() {}

  draw({ graph, gone }) {
    this.groups.forEach(({ group }, k) => {
      const left = graph.blocks.filter((b) => graph.body(b) === k && !gone[b]).length;
      group.classList.toggle("gone", !left);
      group.classList.toggle("partly", left === 1 || left === 2);
    });
  }

  named(name) {
    this.groups.forEach(({ text, title, kg }, k) => {
      title.textContent = name(k);
      text.textContent = `${name(k)}, ${kg}`;
    });
  }

  mark(bodies) {
    this.groups.forEach(({ group }, k) => group.classList.toggle("marked", bodies.includes(k)));
  }
}
