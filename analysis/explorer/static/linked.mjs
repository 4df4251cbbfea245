// The linked views: elimination graph and elimination tree.

import { FC, LAM, PDD, QDD } from "./graph.mjs";
import { NAMED, line, text } from "./scene.mjs";
import { layout } from "./texlayout.mjs";

const MANY = 1500; // lines of a graph, beyond which only given and newest ones are drawn

// x of nodes by leaves, y by depth; parent: place of each node's parent, -1 at a root.
export function treeLayout(parent) {
  const n = parent.length;
  const children = Array.from({ length: n }, () => []);
  const roots = [];
  parent.forEach((p, k) => (p >= 0 ? children[p] : roots).push(k));
  const x = new Float64Array(n);
  const depth = new Int32Array(n);
  let leaf = 0;
  const stack = roots.toReversed().map((k) => [k, false]);
  while (stack.length) {
    const [k, ready] = stack.pop();
    if (!ready) {
      if (parent[k] >= 0) depth[k] = depth[parent[k]] + 1;
      stack.push([k, true], ...children[k].toReversed().map((c) => [c, false]));
    } else x[k] = children[k].length ? (x[children[k][0]] + x[children[k].at(-1)]) / 2 : leaf++;
  }
  return { x, depth, leaves: Math.max(1, leaf), height: Math.max(0, ...depth) };
}

// The elimination graph: unknowns, and lines between those that share a block.  A pivot leaves, and its
// neighbours become a clique; ``preview``, a step that is not made, has its lines dashed.
export function graphScene(engine, labels, width) {
  const { graph } = engine;
  const { n, plain, structure } = graph;
  const at = treeLayout(structure.parent);
  const level = Math.max(34, Math.min(74, 330 / (at.height + 1)));
  const each = width / at.leaves;
  const r = plain ? Math.min(11, width / (4 * Math.sqrt(n))) : Math.min(11, each / 5, level / 4.4);
  const ties = graph.blocks.filter((b) => graph.kind(b) === LAM);
  const height = plain ? width : (at.height + 1) * level + 2 * r + (ties.length ? level / 2 : 0);
  const place = (b) => {
    if (plain) return structure.at[graph.body(b)].map((x) => r + 5 + x * (width - 2 * r - 10));
    const kind = graph.kind(b);
    if (kind === LAM) return [((ties.indexOf(b) + 0.5) * width) / ties.length, height - r - 3];
    const k = graph.carriers.has(b % n) ? graph.carriers.get(b % n) : b % n;
    const [x, y] = [(at.x[k] + (at.leaves > 1 ? 0.4 : 0.36)) * each, (at.depth[k] + 1) * level - r];
    const beside = Math.min(0.36 * each, 70);
    // a body below its force, and its joint beside that
    return { [PDD]: [x, y], [QDD]: [x + beside, y - level / 2], [FC]: [x - beside / 2, y - level / 2] }[kind] ?? [x, y - level / 2];
  };
  const where = new Map(graph.blocks.map((b) => [b, place(b)]));
  const tie = (key, look) => {
    const [[x1, y1], [x2, y2]] = engine.ends(key).map((b) => where.get(b));
    const bow = Math.abs(x1 - x2) < 1 && Math.abs(y1 - y2) > 0.6 * level ? 0.16 * Math.abs(y1 - y2) : 0;
    const curve = (t) => [x1 + t * (x2 - x1) + 4 * t * (1 - t) * bow, y1 + t * (y2 - y1)];
    return { t: "poly", points: [0, 0.2, 0.4, 0.6, 0.8, 1].map(curve), ...look };
  };
  const lookOf = (key, made) => {
    if (engine.ends(key).some((b) => engine.gone[b])) return { c: "line", lw: 1.2 };
    if (made === 0) return { c: "soft", lw: 1.4 };
    return made === engine.step ? { c: "new", lw: 3 } : { c: "fill", lw: 2.4 };
  };
  const newest = engine.made.size > MANY; // then older lines would hide it
  const items = [...engine.made]
    .filter(([, made]) => !newest || made === 0 || made === engine.step)
    .map(([key, made]) => tie(key, lookOf(key, made)));
  for (const b of graph.blocks) {
    const [x, y] = where.get(b);
    const gone = engine.gone[b];
    const now = gone && gone === engine.step;
    const ready = !gone && engine.diagonal[b] >= 0;
    items.push({ t: "ellipse", x, y, rx: r, ry: r, fill: gone ? "shade" : ready ? "entry" : "page", c: now ? "new" : gone ? "faint" : "ink", lw: now ? 2.5 : 1.3 });
    if (r > 7.5) items.push({ t: "tex", x, y, tex: labels.unknown(b), size: Math.min(10, 0.95 * r), c: gone ? "soft" : "ink" });
  }
  const nodes = graph.blocks.map((b) => [...where.get(b), b]);
  const foretold = (preview) => preview.fill.map((key) => tie(key, { c: "new", lw: 2, dash: true }));
  return { width, height, items, nodes, r, foretold };
}

// Pivots so far: each above those that it waits for; a pair is one node.
export function eliminationScene(engine, labels, width, height) {
  const { parent: up, order } = engine.tree();
  const node = new Map();
  const members = [];
  for (const record of engine.steps)
    for (const pivot of record.pivots) {
      for (const b of pivot) node.set(b, members.length);
      members.push({ pivot, step: record.step });
    }
  const parent = members.map(({ pivot }) => {
    const next = up.get(pivot.at(-1));
    return next === undefined || next < 0 ? -1 : node.get(next);
  });
  const at = treeLayout(parent);
  const small = Math.max(2, Math.min(9, width / (4 * at.leaves), height / (2.4 * (at.height + 1))));
  const px = (k) => ((at.x[k] + 0.5) * width) / at.leaves;
  const py = (k) => small + 6 + (at.depth[k] * (height - 2 * small - 12)) / Math.max(1, at.height);
  const items = parent.flatMap((p, k) =>
    p < 0 ? [] : [line(px(k), py(k), px(p), py(p), { c: "faint", lw: 1.2 })],
  );
  members.forEach(({ pivot, step }, k) => {
    const last = step === engine.step;
    const rx = small * (pivot.length === 2 ? 1.5 : 1);
    const look = { fill: last ? "new" : "entry", c: "ink", lw: last ? 2 : 1 };
    items.push({ t: "ellipse", x: px(k), y: py(k), rx, ry: small, ...look });
  });
  if (members.length <= 16 && at.leaves <= 4 && engine.graph.blocks.length <= NAMED)
    members.forEach(({ pivot }, k) => {
      const tex = pivot.map((b) => labels.unknown(b)).join(" ");
      const x = px(k) + 1.5 * small + 5 + layout(tex, 10).width / 2;
      items.push({ t: "tex", x, y: py(k), tex, size: 10, c: "soft" });
    });
  if (!order.length)
    items.push(text(width / 2, 15, "no pivot yet", 12, { c: "soft", anchor: "middle" }));
  return { width, height: members.length ? height : 30, items, nodes: members.map((m, k) => [px(k), py(k), m.pivot]), r: small };
}
