// Large trees: where blocks are, as densities, and a subtree that is small enough to be drawn.

import { Engine } from "./engine.mjs";
import { h, para, plural, replaced, select } from "./dom.mjs";

const BINS = 180;
const MOST = 100; // bodies of a subtree

export function mountLarge(element, data, { onOrder, mount }) {
  const size = subtreeSizes(data.structures.whole);
  const status = h("p", { class: "status", role: "status", "aria-live": "polite" });
  const caption = h("figcaption", { class: "soft" });
  const canvas = h("canvas", { width: BINS * 3, height: BINS * 3, role: "img" });
  const below = h("div", { class: "below" });
  let inner = null;
  const orders = [["", "the matrix alone"], ...data.orders.map((o) => [o.name, o.name])];
  const show = (name) => {
    const order = data.orders.find((o) => o.name === name);
    const engine = new Engine(data.structures[order?.links ?? "whole"], order?.split ?? false);
    for (const group of order?.groups ?? []) if (engine.eliminate(group).refused) break;
    density(canvas, engine, root);
    const blocks = engine.graph.blocks.length;
    const text = `${plural(blocks, "block")} a side: each dot stands for ${Math.ceil(blocks / BINS)} by ${Math.ceil(blocks / BINS)} blocks, stronger where more are nonzero. ${order ? `${name} fills ${engine.fill.toLocaleString("en")} blocks.` : ""}`;
    canvas.setAttribute("aria-label", text);
    caption.textContent = text;
  };
  const choice = candidates(size, data.structures.whole.names);
  const open = (text) => {
    const k = Number(text);
    const part = subtree(data, k);
    inner?.destroy();
    inner = mount(below, part, { onOrder, hash: false });
    status.textContent = `Below: the subtree of ${data.structures.whole.names[k]}, ${part.bodies} of its ${size[k]} bodies, on structure alone.`;
  };
  const list = select("Order", orders, "", show);
  const pick = select("Subtree", choice, choice[0][0], open);
  const many = `${data.bodies.toLocaleString("en")} bodies: too many to draw block by block. Shown are densities, and one subtree at a time.`;
  const title = h("div", {}, h("h1", {}, data.model), para("soft about", many));
  const root = h(
    "div",
    { class: "pivotree", "data-theme": "auto" },
    h("header", {}, title),
    h("div", { class: "controls" }, list.node, pick.node),
    status,
    h("figure", { class: "density" }, canvas, caption),
  );
  replaced(element, root, below);
  // the page is seen before the blocks of all bodies are counted
  const filling = setTimeout(() => {
    show("");
    open(choice[0][0]);
  }, 30);
  return {
    order: () => inner?.order() ?? null,
    setOrder: (code) => inner?.setOrder(code) ?? false,
    destroy: () => {
      clearTimeout(filling);
      inner?.destroy();
      replaced(element);
    },
  };
}

// Bodies at and above each body; ``order`` runs from tip to base.
function subtreeSizes({ parent, order }) {
  const size = new Int32Array(parent.length).fill(1);
  for (const k of order) if (parent[k] >= 0) size[parent[k]] += size[k];
  return size;
}

// Bodies whose subtrees are offered: the largest that fit, then the roots, cut.
function candidates(size, names) {
  const fit = [...size.keys()]
    .filter((k) => size[k] > 1 && size[k] <= MOST)
    .sort((a, b) => size[b] - size[a]);
  const top = [...size.keys()].sort((a, b) => size[b] - size[a]).slice(0, 3);
  return [...fit.slice(0, 60), ...top].map((k) => [String(k), `${names[k]} (${plural(size[k], "body")})`]);
}

// A body and those below it, at most MOST of them, as a document of its own.
function subtree(data, top) {
  const { names, parent, dof } = data.structures.whole;
  const children = new Map();
  parent.forEach((p, k) => children.set(p, [...(children.get(p) ?? []), k]));
  const kept = [top];
  for (let at = 0; at < kept.length && kept.length < MOST; at++)
    kept.push(...(children.get(kept[at]) ?? []).slice(0, MOST - kept.length));
  const place = new Map(kept.map((k, at) => [k, at]));
  const order = kept.map((_, at) => at).reverse();
  const n = names.length;
  const structure = {
    names: kept.map((k) => names[k]),
    dof: kept.map((k) => dof[k]),
    order,
    letters: data.structures.whole.letters,
    parent: kept.map((k) => (k === top ? -1 : place.get(parent[k]))),
  };
  const orders = data.orders
    .filter((o) => o.links === "whole")
    .map((o) => {
      const there = (group) => group.filter((b) => place.has(b % n));
      const placed = (b) => Math.floor(b / n) * kept.length + place.get(b % n);
      const groups = o.groups.map((group) => there(group).map(placed)).filter((group) => group.length);
      const engine = new Engine(structure, o.split);
      for (const group of groups) engine.eliminate(group);
      return { ...o, groups, fill: engine.fill, height: engine.height };
    });
  return {
    ...data,
    model: `${data.model}, subtree of ${names[top]}`,
    bodies: kept.length,
    dof: structure.dof.reduce((a, b) => a + b, 0),
    structures: { whole: structure },
    orders,
    entries: undefined,
  };
}

function density(canvas, engine, root) {
  const { blocks } = engine.graph;
  const place = new Map(blocks.map((b, at) => [b, at]));
  const count = new Float64Array(BINS * BINS);
  const bin = (b) => Math.min(BINS - 1, Math.floor((place.get(b) * BINS) / blocks.length));
  for (const [key] of engine.made) {
    const [i, j] = engine.ends(key).map(bin);
    count[i * BINS + j] += 1;
    count[j * BINS + i] += 1;
  }
  for (const b of blocks) if (engine.diagonal[b] >= 0) count[bin(b) * BINS + bin(b)] += 1;
  const most = Math.log1p(count.reduce((a, b) => Math.max(a, b), 1));
  const style = getComputedStyle(root);
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = style.getPropertyValue("--pt-entryStrong") || "#0072B2";
  count.forEach((value, at) => {
    if (!value) return;
    context.globalAlpha = 0.25 + (0.75 * Math.log1p(value)) / most;
    context.fillRect((at % BINS) * 3, Math.floor(at / BINS) * 3, 3, 3);
  });
  context.globalAlpha = 1;
}
