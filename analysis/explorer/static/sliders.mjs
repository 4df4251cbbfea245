// Sliders on a line, drawn: each rides on the one below, the first on a rail.  As a Robot on the page.

import { Bodies, make } from "./robot.mjs";

const [WIDE, HIGH, NARROWER] = [240, 34, 44]; // pixels of the lowest slider, and of those above

export class Sliders extends Bodies {
  constructor(data, actions) {
    const { order } = data.structures.whole;
    const high = (HIGH + 8) * order.length + 26;
    super(actions, "robot sliders", [300, high], `${order.length} sliders on a line`);
    this.svg.append(make("path", { class: "ground", d: `M10 ${high - 12}H290` }));
    order.toReversed().forEach((k, level) => {
      const wide = WIDE - NARROWER * level;
      const [x, y] = [24 + 16 * level, high - 22 - (HIGH + 8) * (level + 1)];
      const mass = data.entries.M[k][0];
      const kg = mass >= 1e6 ? `${(mass / 1e3).toLocaleString("en")} t` : `${mass} kg`;
      const link = make("rect", { class: "link", x, y, width: wide, height: HIGH, rx: 5 });
      const wheels = [0.15, 0.85].map((at) => make("circle", { class: "joint", cx: x + at * wide, cy: y + HIGH + 3, r: 5 }));
      const { group, text } = this.add(k, "body slider", [link, ...wheels], `, ${kg}`);
      text.setAttribute("x", x + wide / 2);
      text.setAttribute("y", y + HIGH / 2 + 4);
      group.append(text);
    });
  }
}
