// A tree of one's own, drawn: a click on a body hangs one more on it, by the joint that is chosen.  It
// becomes a model file, which Python reads as it reads every other.

import { button, h, para, plural, select } from "./dom.mjs";
import { treeLayout } from "./linked.mjs";
import { make } from "./robot.mjs";

const [LENGTH, MASS] = [0.3, 1]; // [m], [kg] of each link, a thin rod
const MOST = 40; // bodies
const [WIDE, HIGH, RADIUS] = [520, 320, 13];

// Kinds of joints by the rows of the motion subspace that they free, angular ones first.
const JOINTS = { revolute: [1], prismatic: [3], universal: [1, 2], spherical: [0, 1, 2], free: [0, 1, 2, 3, 4, 5] };
const LETTER = { revolute: "R", prismatic: "P", universal: "U", spherical: "S", free: "F" };

// A model file (pivotree-model/1) of bodies { parent, joint }, parents first, -1 the ground.  Each link
// goes on where its parent's ends; those that hang on one body fan out.
export function modelOf(bodies) {
  const fan = bodies.map(({ parent }, k) => bodies.slice(0, k).filter((other) => other.parent === parent).length);
  const freed = bodies.map(({ joint }) => JOINTS[joint]);
  const square = LENGTH ** 2 * MASS;
  const total = freed.reduce((sum, rows) => sum + rows.length, 0);
  return {
    schema: "pivotree-model/1",
    name: "drawn",
    gravity: [0, 0, -9.81],
    bodies: bodies.map(({ parent }, k) => {
      const turn = (fan[k] % 2 ? 0.7 : -0.7) * Math.ceil(fan[k] / 2);
      const [c, s] = [Math.cos(turn), Math.sin(turn)];
      return {
        name: `b${k + 1}`,
        parent: parent < 0 ? null : `b${parent + 1}`,
        R: [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        p: [parent < 0 ? 0 : LENGTH, 0, 0],
        S: [0, 1, 2, 3, 4, 5].map((row) => freed[k].map((free) => Number(free === row))),
        mass: MASS,
        com: [LENGTH / 2, 0, 0],
        inertia_com: [[square / 1200, 0, 0], [0, square / 12, 0], [0, 0, square / 12]],
      };
    }),
    velocity: new Array(total).fill(0),
    effort: new Array(total).fill(0),
  };
}

// A dialog to draw in; ``opened(text)`` takes the model file.
export function drawingDialog(opened) {
  const bodies = [{ parent: -1, joint: "revolute" }];
  const svg = make("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "group", "aria-label": "The tree" });
  const told = h("p", { class: "soft", role: "status", "aria-live": "polite" });
  const joint = select("Joint of the next body", Object.keys(JOINTS).map((kind) => [kind, kind]), "revolute", () => {});
  const add = (parent) => {
    if (bodies.length >= MOST) return;
    bodies.push({ parent, joint: joint.list.value });
    draw(bodies.length);
  };
  const draw = (focus = 0) => {
    // the ground is the first node, and body k the one after k others
    const at = treeLayout([-1, ...bodies.map(({ parent }) => parent + 1)]);
    const level = Math.min(64, (HIGH - 60) / Math.max(1, at.height));
    const place = (node) => [((at.x[node] + 0.5) * WIDE) / at.leaves, 28 + at.depth[node] * level];
    const links = bodies.map(({ parent }, k) => {
      const [[x1, y1], [x2, y2]] = [place(parent + 1), place(k + 1)];
      return make("path", { class: "tie", d: `M${x1} ${y1}L${x2} ${y2}` });
    });
    const nodes = [null, ...bodies].map((body, node) => {
      const [x, y] = place(node);
      const called = body ? `body ${node}, ${body.joint}` : "the ground";
      const shape = make("circle", { cx: x, cy: y, r: Math.min(RADIUS, 0.4 * level, (0.45 * WIDE) / at.leaves) });
      const text = make("text", { x, y: body ? y + 4 : y - 17 });
      text.textContent = body ? `${LETTER[body.joint]}${node}` : "ground";
      const group = make("g", { class: "node", role: "button", tabindex: "0", "aria-label": `Hang a body on ${called}` });
      group.append(shape, text);
      group.addEventListener("click", () => add(node - 1));
      group.addEventListener("keydown", (event) => {
        if (!["Enter", " "].includes(event.key)) return;
        event.preventDefault();
        add(node - 1);
      });
      return group;
    });
    svg.replaceChildren(...links, ...nodes);
    if (focus && svg.contains(document.activeElement)) nodes[focus].focus();
    const free = bodies.reduce((sum, body) => sum + JOINTS[body.joint].length, 0);
    told.textContent = `${plural(bodies.length, "body")}, ${plural(free, "degree")} of freedom. Links are rods of ${LENGTH} m and ${MASS} kg.`;
    undo.disabled = bodies.length === 1;
  };
  const undo = button("Undo", "Take the last body away", () => (bodies.pop(), draw()));
  const open = button("Open", "Open the tree in the tool", () => (dialog.close(), opened(JSON.stringify(modelOf(bodies), null, 1))), { class: "primary" });
  const close = button("Close", "Close the drawing", () => dialog.close());
  const dialog = h(
    "dialog",
    { class: "drawing", "aria-label": "Draw a tree" },
    h("h2", {}, "Draw a tree"),
    para("", "Click a body, or the ground, and one more hangs on it."),
    joint.node,
    svg,
    told,
    h("div", { class: "row" }, undo, open, close),
  );
  draw();
  return dialog;
}
