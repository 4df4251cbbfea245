// The robot itself, drawn and moving: places of joints, axes from H, centres of mass from M.

const SVG = "http://www.w3.org/2000/svg";
const SIDE = 300;
const SWING = 0.22; // [rad], how far each joint swings about its place in the matrix
const NAMED = 40; // bodies of a robot that moves, with names beside them; of a larger one they are told on hover

export function make(name, attributes = {}) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Bodies as shapes that are pointed at and picked.
export class Bodies {
  actions; groups; svg;

  // actions: { point(body or null), pick(body) }; bodies by their place in the tree
  constructor(actions, kind, [wide, high], told) {
    Object.assign(this, { actions, groups: [] });
    this.svg = make("svg", { viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": told });
    this.node = document.createElement("figure");
    this.node.className = kind;
    this.node.append(this.svg);
  }

  // A body of some parts; its name, and perhaps more, stands in ``text``, wherever that is put.
  add(k, kind, parts, more = "") {
    const { actions } = this;
    const [group, title, text] = [make("g", { class: kind }), make("title"), make("text", { class: "name" })];
    group.append(title, ...parts);
    group.addEventListener("pointerenter", () => actions.point(k));
    group.addEventListener("pointerleave", () => actions.point(null));
    group.addEventListener("click", () => actions.pick(k));
    this.svg.append(group);
    return (this.groups[k] = { group, title, text, more });
  }

  destroy() {}

  // What is eliminated is pale; the bodies that are pointed at stand out.
  draw({ graph, gone }) {
    this.groups.forEach(({ group }, k) => {
      const own = graph.own(k);
      const left = own.filter((b) => !gone[b]).length;
      group.classList.toggle("gone", !left);
      group.classList.toggle("partly", left > 0 && left < own.length);
    });
  }

  // What bodies are called, beside them and on hover: by their place in the tree.
  named(name, whole = name) {
    this.groups.forEach(({ text, title, more }, k) => {
      title.textContent = whole(k);
      text.textContent = name(k) + more;
    });
  }

  mark(bodies) {
    this.groups.forEach(({ group, text }, k) => {
      for (const part of [group, text]) part.classList.toggle("marked", bodies.includes(k));
    });
  }
}

export class Robot extends Bodies {
  entries; seen; size; structure;

  constructor(data, actions) {
    const { entries } = data;
    const structure = data.structures.whole;
    super(actions, "robot", [SIDE, SIDE], `The robot: ${structure.names.length} bodies`);
    Object.assign(this, { structure, entries, frame: 0 });
    this.n = structure.names.length;
    this.children = Array.from({ length: this.n }, () => []);
    structure.parent.forEach((p, k) => p >= 0 && this.children[p].push(k));
    this.down = [...structure.order].reverse();
    this.ground = make("path", { class: "ground" });
    this.svg.append(this.ground);
    for (let k = 0; k < this.n; k++) {
      const [link, joint] = [make("path", { class: "link" }), make("circle", { class: "joint", r: this.n <= NAMED ? 8 : 4 })];
      Object.assign(this.add(k, "body", [link, joint]), { link, joint });
    }
    if (this.n <= NAMED) this.svg.append(...this.groups.map(({ text }) => text)); // over all links
    this.pose(entries);
    this.named((k) => structure.names[k]);
    const still = matchMedia("(prefers-reduced-motion: reduce)");
    const step = (now) => {
      if (!this.node.isConnected && this.seen) return;
      this.seen ||= this.node.isConnected;
      if (this.node.offsetParent && !still.matches && this.n <= NAMED) this._place(now / 1000);
      this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }

  // As these entries have it.
  pose(entries) {
    if (this.joints && entries === this.entries) return;
    Object.assign(this, { entries, told: null });
    this.joints = this.down.map((_, k) => this._joint(k));
    this._fit();
    this._place(0);
  }

  static fits(data) {
    return Boolean(data.entries?.pose);
  }

  destroy() {
    cancelAnimationFrame(this.frame);
  }

  // Pose in the parent, axis, whether it slides, and the far end of a body without children.
  _joint(k) {
    const { pose, H, M } = this.entries;
    const R = [0, 3, 6].map((row) => pose[k].slice(row, row + 3));
    const at = pose[k].slice(9);
    const h = H[k] ?? [];
    const turns = h.length >= 6 && Math.hypot(h[0], h[1], h[2]) > 1e-9;
    const slides = h.length >= 6 && !turns;
    const axis = turns ? h.slice(0, 3) : h.slice(3, 6);
    const m = M[k];
    const mass = m[21] || 1;
    const centre = [m[16], m[5], m[9]].map((x) => x / mass); // its upper right block is mass [centre] x
    return { R, at, axis, turns, slides, end: centre.map((c) => 2 * c) };
  }

  // Joints and ends in the plane of the picture, at a time [s].
  _points(time) {
    const place = [];
    const turn = [];
    for (const k of this.down) {
      const { R, at, axis, turns, slides } = this.joints[k];
      const p = this.structure.parent[k];
      const [P, o] = p < 0 ? [IDENTITY, [0, 0, 0]] : [turn[p], place[p]];
      // closed loops would open, and feet would slide
      const swing = this.structure.ties ? 0 : SWING * Math.sin(0.9 * time + 1.3 * k);
      let here = plus(o, times(P, at));
      let Q = product(P, R);
      if (slides) here = plus(here, times(Q, axis.map((a) => a * swing * 0.6 * this._reach())));
      if (turns) Q = product(Q, about(axis, swing));
      place[k] = here;
      turn[k] = Q;
    }
    const ends = this.joints.map(({ end }, k) => plus(place[k], times(turn[k], end)));
    return { place, ends };
  }

  _reach() {
    return (this.size ??= Math.max(0.5, ...this.joints.map(({ at, end }) => Math.hypot(...at) + Math.hypot(...end))));
  }

  _fit() {
    const all = [0, 1, 2, 3, 4, 5, 6].flatMap((t) => {
      const { place, ends } = this._points(t);
      return [...place, ...ends, [0, 0, 0]].map(seen);
    });
    const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const scale = (SIDE - 76) / Math.max(x1 - x0, y1 - y0, 1e-6);
    const high = Math.min(SIDE, Math.max(150, Math.ceil((y1 - y0) * scale + 84)));
    this.svg.setAttribute("viewBox", `0 0 ${SIDE} ${high}`);
    this.high = high;
    /** @type {(point: number[]) => number[]} */
    this.map = ([x, y]) => [SIDE / 2 + (x - (x0 + x1) / 2) * scale, high / 2 - (y - (y0 + y1) / 2) * scale];
  }

  _place(time) {
    const { place, ends } = this._points(time);
    const at = place.map((p) => this.map(seen(p)));
    /** @type {(point: number[]) => string} */
    const text = ([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`;
    const [gx, gy] = this.map([0, 0]);
    this.ground.setAttribute("d", `M${gx - 22} ${gy + 16}H${gx + 22}M${gx} ${gy + 16}V${gy}`);
    this.groups.forEach(({ link, joint, text: label }, k) => {
      const up = this.structure.parent[k];
      const far = this.children[k].length ? [] : [this.map(seen(ends[k]))];
      const tips = [...this.children[k].map((c) => at[c]), ...far];
      const start = up < 0 ? `M${text([gx, gy])}L${text(at[k])}` : "";
      link.setAttribute("d", start + tips.map((tip) => `M${text(at[k])}L${text(tip)}`).join(""));
      joint.setAttribute("cx", at[k][0]);
      joint.setAttribute("cy", at[k][1]);
      const [x, y] = this._beside(k, at[k], tips[0] ?? at[k]);
      label.setAttribute("x", x);
      label.setAttribute("y", y);
    });
  }

  _beside(k, joint, tip) {
    const { along, x, y } = this.labels?.[k] ?? PLACES[0];
    return [joint[0] + along * (tip[0] - joint[0]) + x, joint[1] + along * (tip[1] - joint[1]) + y];
  }

  // Where each name stands beside its link, chosen once for the whole motion, so that names neither lie
  // on each other nor on joints, nor jump.
  _spread() {
    const times = [0, 1, 2, 3, 4, 5, 6].map((t) => {
      const { place, ends } = this._points(t);
      const at = place.map((p) => this.map(seen(p)));
      const tip = at.map((_, k) => (this.children[k].length ? at[this.children[k][0]] : this.map(seen(ends[k]))));
      const joints = at.map(([x, y]) => [x - 9, y - 9, 18, 18]);
      const links = at.flatMap(([x, y], k) =>
        [0.3, 0.5, 0.7, 0.9].map((s) => [x + s * (tip[k][0] - x) - 5, y + s * (tip[k][1] - y) - 5, 10, 10]),
      );
      return { at, tip, boxes: [...joints, ...links] };
    });
    this.labels = [];
    for (const k of this.down) {
      const wide = 7 * Math.max(1, this.groups[k].text.textContent.length) + 4;
      const box = (place, { at, tip }) => {
        this.labels[k] = place;
        const [x, y] = this._beside(k, at[k], tip[k]);
        return [x - wide / 2, y - 11, wide, 14];
      };
      const cost = (place) =>
        times.reduce((sum, time) => {
          const own = box(place, time);
          const out = own[0] < 0 || own[0] + wide > SIDE || own[1] < 0 || own[1] + 14 > this.high;
          return sum + 600 * Number(out) + time.boxes.reduce((all, other) => all + shared(own, other), 0);
        }, 0);
      const costs = PLACES.map((place, rank) => cost(place) + 4 * rank);
      const best = PLACES[costs.indexOf(Math.min(...costs))];
      for (const time of times) time.boxes.push(box(best, time));
    }
  }

  named(name) {
    const told = this.structure.names.map((_, k) => String(name(k)));
    if (told.join() === this.told) return;
    this.told = told.join();
    super.named((k) => told[k], (k) => this.structure.names[k]);
    if (this.map && this.n <= NAMED) this._spread();
  }
}

// Above a link or below it, at its middle, its far end or its joint; then farther away.
const PLACES = [-14, 24, -28, 38, -42, 52].flatMap((y) => [0.5, 0.85, 0.2].map((along) => ({ along, x: 0, y })));
PLACES.push({ along: 1, x: 16, y: 4 }, { along: 1, x: 16, y: -9 }, { along: 1, x: 16, y: 17 }, { along: 1, x: 16, y: 30 });

// Area that two boxes [x, y, width, height] share.
/** @type {(one: number[], other: number[]) => number} */
function shared([x, y, w, h], [u, v, a, b]) {
  return Math.max(0, Math.min(x + w, u + a) - Math.max(x, u)) * Math.max(0, Math.min(y + h, v + b) - Math.max(y, v));
}

// A view from the side and a little above.
function seen([x, y, z]) {
  const [a, b] = [-0.45, 0.42];
  const [u, v] = [x * Math.cos(a) - y * Math.sin(a), x * Math.sin(a) + y * Math.cos(a)];
  return [u, z * Math.cos(b) + v * Math.sin(b)];
}

const IDENTITY = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];
const plus = (a, b) => a.map((x, i) => x + b[i]);
const times = (A, x) => A.map((row) => row.reduce((sum, value, i) => sum + value * x[i], 0));
const product = (A, B) => A.map((row) => B[0].map((_, j) => row.reduce((sum, value, i) => sum + value * B[i][j], 0)));

// Rodrigues' rotation by an angle [rad].
function about([x, y, z], angle) {
  const size = Math.hypot(x, y, z);
  const [a, b, c] = [x / size, y / size, z / size];
  const [s, w] = [Math.sin(angle), 1 - Math.cos(angle)];
  return [
    [1 - w * (b * b + c * c), w * a * b - s * c, w * a * c + s * b],
    [w * a * b + s * c, 1 - w * (a * a + c * c), w * b * c - s * a],
    [w * a * c - s * b, w * b * c + s * a, 1 - w * (a * a + b * b)],
  ];
}
