// The linked views: multibody tree, elimination tree, and curves over the steps.

import { F, FC, FJ, PDD, QDD } from "./graph.mjs";

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

// Bodies: open circle while nothing is gone, half for some, full for all of its blocks.
export function bodyScene(engine, labels, width, height) {
  const { graph } = engine;
  const { parent } = graph.structure;
  const at = treeLayout(parent);
  const r = Math.max(2.5, Math.min(10, width / (3 * at.leaves), height / (3 * (at.height + 1))));
  const px = (k) => ((at.x[k] + 0.5) * width) / at.leaves;
  const py = (k) => r + 4 + (at.depth[k] * (height - 2 * r - 8)) / Math.max(1, at.height);
  const items = [];
  const nodes = [];
  for (let k = 0; k < graph.n; k++)
    if (parent[k] >= 0)
      items.push({
        t: "line",
        x1: px(k),
        y1: py(k),
        x2: px(parent[k]),
        y2: py(parent[k]),
        c: "faint",
        lw: 1.2,
      });
  for (let k = 0; k < graph.n; k++) {
    const blocks = [PDD, QDD, F, FJ, FC].map((kind) => kind * graph.n + k).filter((b) => graph.size[b]);
    const gone = blocks.filter((b) => engine.gone[b]).length;
    const last = blocks.some((b) => engine.gone[b] && engine.gone[b] === engine.step);
    const fill = gone === blocks.length ? "soft" : gone ? "shade" : "page";
    items.push({
      t: "ellipse",
      x: px(k),
      y: py(k),
      rx: r,
      ry: r,
      fill,
      c: last ? "new" : "ink",
      lw: last ? 3 : 1.2,
    });
    if (gone && gone < blocks.length)
      items.push({ t: "line", x1: px(k) - r, y1: py(k), x2: px(k) + r, y2: py(k), c: "ink", lw: 1.2 });
    if (r >= 7) {
      const ink = fill === "soft" ? "page" : "ink";
      items.push({
        t: "text",
        x: px(k),
        y: py(k) + 3.6,
        text: labels.subscript.get(k) ?? "",
        size: 10,
        c: ink,
        anchor: "middle",
      });
    }
    nodes.push([px(k), py(k), k]);
  }
  return { width, height, items, nodes, r };
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
  const items = [];
  parent.forEach((p, k) => {
    if (p >= 0) items.push({ t: "line", x1: px(k), y1: py(k), x2: px(p), y2: py(p), c: "faint", lw: 1.2 });
  });
  members.forEach(({ pivot, step }, k) => {
    const last = step === engine.step;
    items.push({
      t: "ellipse",
      x: px(k),
      y: py(k),
      rx: small * (pivot.length === 2 ? 1.5 : 1),
      ry: small,
      fill: last ? "new" : "entry",
      c: "ink",
      lw: last ? 2 : 1,
    });
  });
  if (members.length <= 16 && at.leaves <= 4 && engine.graph.blocks.length <= 40)
    members.forEach(({ pivot }, k) => {
      const tex = pivot.map((b) => labels.unknown(b)).join(" ");
      items.push({ t: "tex", x: px(k) + small + 8 + 5 * pivot.length, y: py(k), tex, size: 10, c: "soft" });
    });
  if (!order.length)
    items.push({
      t: "text",
      x: width / 2,
      y: height / 2,
      text: "no pivot yet",
      size: 12,
      c: "soft",
      anchor: "middle",
    });
  return { width, height, items, nodes: members.map((m, k) => [px(k), py(k), m.pivot]), r: small };
}

const short = (x) =>
  x >= 1e6
    ? `${(x / 1e6).toFixed(1)}M`
    : x >= 1e4
      ? `${Math.round(x / 1e3)}k`
      : x >= 100
        ? Math.round(x).toLocaleString("en")
        : `${Math.round(x * 10) / 10}`;

// Panels, ``across`` of them side by side, all of them ``width`` wide and each ``height`` high.
// panels: [{ title, lines: [{ points: [[x, y]], c, dash }] }]; ``now``: the step
export function curveScene(panels, steps, now, [width, height, across]) {
  const items = [];
  const gap = 46;
  const each = (width - gap * across) / across;
  panels.forEach(({ title, lines }, at) => {
    const left = gap + (gap + each) * (at % across) - 8;
    const start = height * Math.floor(at / across);
    const [top, bottom] = [start + 22, start + height - 22];
    const most = Math.max(0, ...lines.flatMap((line) => line.points.map(([, y]) => y))) || 1;
    const X = (x) => left + (x * each) / Math.max(1, steps);
    const Y = (y) => bottom - (y * (bottom - top)) / most;
    items.push({ t: "text", x: left, y: top - 10, text: title, size: 12, c: "ink", bold: true });
    items.push({ t: "line", x1: left, y1: bottom, x2: left + each, y2: bottom, c: "ink", lw: 1 });
    items.push({ t: "line", x1: left, y1: top, x2: left, y2: bottom, c: "ink", lw: 1 });
    items.push({
      t: "text",
      x: left - 5,
      y: top + 4,
      text: short(most),
      size: 10.5,
      c: "soft",
      anchor: "end",
    });
    items.push({ t: "text", x: left - 5, y: bottom, text: "0", size: 10.5, c: "soft", anchor: "end" });
    items.push({
      t: "text",
      x: left + each,
      y: bottom + 16,
      text: `step ${steps}`,
      size: 10.5,
      c: "soft",
      anchor: "end",
    });
    items.push({ t: "line", x1: X(now), y1: top, x2: X(now), y2: bottom, c: "faint", lw: 1, dash: true });
    for (const { points, c, dash, marker } of lines) {
      if (points.length > 1)
        items.push({ t: "poly", points: points.map(([x, y]) => [X(x), Y(y)]), c, lw: 2, dash });
      const here = points.findLast(([x]) => x <= now) ?? points.at(-1);
      if (!here) continue;
      const place = { x: X(here[0]), y: Y(here[1]) };
      if (marker === "square")
        items.push({ t: "rect", x: place.x - 3.5, y: place.y - 3.5, w: 7, h: 7, c, line: "page", lw: 1 });
      else items.push({ t: "ellipse", ...place, rx: 4, ry: 4, fill: c, c: "page", lw: 1 });
    }
  });
  return { width, height: height * Math.ceil(panels.length / across), items };
}
