// What is drawn, as a list of rectangles, ellipses, lines and texts; whoever draws it comes after.
// Colours are names of the palette; every colour is doubled by a glyph, a hatch or a frame.

import { layout } from "./texlayout.mjs";

export const LAYOUTS = { body: "body by body, as (6)", kind: "by kind, as (4)", pivots: "as eliminated" };
export const NAMED = 40; // blocks up to which they have names
export const MANY = 60; // blocks beyond which a canvas is used, and a stronger colour for those of the matrix
const MARGIN = 34;

// Items of a scene.
export const line = (x1, y1, x2, y2, look) => ({ t: "poly", points: [[x1, y1], [x2, y2]], ...look });
export const text = (x, y, words, size, look = {}) => ({ t: "text", x, y, text: words, size, c: "ink", ...look });
const rect = (x, y, w, h, look) => ({ t: "rect", x, y, w, h, ...look });

// Blocks from the first row to the last.
export function rowsOf(engine, order) {
  const { graph } = engine;
  if (order === "kind") return [...graph.blocks].sort((a, b) => graph.kind(a) - graph.kind(b));
  if (order !== "pivots") return graph.blocks;
  const gone = engine.steps.flatMap((record) => record.pivots.flat());
  return [...gone, ...graph.blocks.filter((b) => !engine.gone[b])];
}

// For each block of a limb that is folded to one, the block that stands for it: pdd of the limb's body.
export function foldedIn(graph, limbs) {
  const standing = new Map();
  for (const top of limbs) for (const k of graph.limb(top)) for (const b of graph.own(k)) standing.set(b, top);
  return standing;
}

// The matrix at its step.  options: { side, order, labels, heat, most, fat, folded }
export function matrixScene(engine, options) {
  const { graph } = engine;
  const folded = foldedIn(graph, options.folded ?? []);
  const rows = rowsOf(engine, options.order).filter((b) => (folded.get(b) ?? b) === b);
  const named = rows.length <= NAMED;
  const labels = named ? options.labels() : null;
  const look = { ...options, labels, large: rows.length > MANY };
  const margin = named ? MARGIN : 4;
  const least = named ? 2.1 : 1;
  const sizes = rows.map((b) => Math.max(graph.size[b], least));
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  const fat = options.fat ?? 1; // from blocks of one size to blocks of their own
  const drawn = sizes.map((size) => mean + fat * (size - mean));
  const total = drawn.reduce((sum, size) => sum + size, 0);
  const scale = (options.side - margin - 2) / total;
  const edge = [margin];
  for (const size of drawn) edge.push(edge.at(-1) + size * scale);
  const place = new Map(rows.map((b, at) => [b, at]));
  for (const [b, top] of folded) place.set(b, place.get(top));
  const end = edge.at(-1);
  const scene = { width: options.side, height: options.side, items: [], edge, rows, place, margin, folded, labels };
  const { items } = scene;
  items.push(rect(margin, margin, end - margin, end - margin, { c: "page", line: "faint", lw: 1 }));
  for (const [at, b] of rows.entries()) {
    if (!goneIn(engine, folded, b)) continue;
    const [low, high] = [edge[at], edge[at + 1] - edge[at]];
    items.push(rect(margin, low, end - margin, high, { c: "shade" }));
    items.push(rect(low, margin, high, end - margin, { c: "shade" }));
  }
  const box = (i, j) => {
    const [x, y] = [edge[place.get(j)], edge[place.get(i)]];
    const [w, h] = [edge[place.get(j) + 1] - x, edge[place.get(i) + 1] - y];
    const inset = Math.min(1, 0.08 * Math.min(w, h));
    return grown({ x, y, w, h }, -inset);
  };
  scene.box = box;
  for (const cell of cellsOf(engine, folded)) items.push(...drawnCell(cell, box, named, look));
  items.push(...pivotCircles(engine, box, named, folded));
  if (named) items.push(...margins(scene));
  return scene;
}

// What lies over a matrix: the open bracket, a preview, marked blocks, the cursor.
export function overlayScene(engine, scene, { pending, preview, marked, lit, cursor }) {
  const { box, width, height } = scene;
  /** @type {any[]} */
  const items = [...rowsLit(scene, lit ?? []), ...bracketFrames(box, pending)];
  if (preview && !preview.refused) items.push(...previewed(engine, preview, box));
  for (const [i, j] of marked ?? [])
    items.push({ t: "rect", ...grown(box(i, j), 1), line: "focus", lw: 1.5, dash: true });
  if (cursor) {
    const at = grown(box(...cursor), 2);
    items.push({ t: "rect", ...at, line: "page", lw: 5 }, { t: "rect", ...at, line: "focus", lw: 2.5 });
  }
  return { width, height, items };
}

// Whether a row is eliminated: of a folded limb, all of it.
function goneIn({ gone }, folded, b) {
  const own = [...folded].filter(([, top]) => top === b).map(([block]) => block);
  return own.length ? own.every((block) => gone[block]) : Boolean(gone[b]);
}

// Nonzero blocks, both triangles: { i, j, kind: entry, fill or new }; of a folded limb one for all, the
// newest of them, and its own block has all that is in it: { ..., limb: true }.
function cellsOf(engine, folded) {
  const result = cellsApart(engine);
  if (!folded.size) return result;
  const merged = new Map();
  const rank = { entry: 0, fill: 1, new: 2 };
  for (const { i, j, kind } of result) {
    const [a, b] = [folded.get(i) ?? i, folded.get(j) ?? j];
    const limb = folded.has(i) || folded.has(j);
    const cell = merged.get(`${a},${b}`) ?? { i: a, j: b, kind, limb, of: [] };
    if (rank[kind] > rank[cell.kind]) cell.kind = kind;
    cell.of.push([i, j]);
    merged.set(`${a},${b}`, cell);
  }
  return [...merged.values()];
}

function cellsApart(engine) {
  const result = [];
  const kindOf = (made) => (made === 0 ? "entry" : made === engine.step ? "new" : "fill");
  for (const b of engine.graph.blocks)
    if (engine.diagonal[b] >= 0) result.push({ i: b, j: b, kind: kindOf(engine.diagonal[b]) });
  for (const [key, made] of engine.made) {
    const [i, j] = engine.ends(key);
    result.push({ i, j, kind: kindOf(made) }, { i: j, j: i, kind: kindOf(made) });
  }
  return result;
}

function drawnCell({ i, j, kind, limb, of = [[i, j]] }, box, named, options) {
  const at = box(i, j);
  const lost = options.heat ? worst(of.map((block) => options.heat(...block))) : null;
  const cell = { t: "rect", ...at, c: kind === "entry" && options.large ? "entryStrong" : kind };
  if (lost !== null) cell.c = `heat${heatLevel(lost, options.most)}`;
  if (kind === "fill" && at.w > 5 && lost === null) cell.hatch = "fillHatch";
  if (kind === "new") Object.assign(cell, at.w > 5 ? {} : grown(at, 1), { line: "ink", lw: named ? 2 : 1 });
  const items = [cell];
  const numbers = !limb && lost === null && options.labels?.numbers?.(i, j);
  if (numbers) return [cell, ...written(numbers, cell)];
  const tex =
    lost !== null && at.w > 14 ? `\\text{${lostText(lost)}}` : named && !limb ? options.labels?.cell(i, j) : "";
  const label = tex && fitted(tex, at, cell.c, i !== j);
  if (label) {
    if (kind === "fill" && lost === null) items.push({ t: "rect", ...label.box, c: "fill" });
    items.push(label);
  } else if (kind === "new" && at.w > 5) {
    const [x, y, s] = [at.x + at.w / 2, at.y + at.h / 2, Math.min(at.w, at.h) / 4];
    items.push(line(x - s, y, x + s, y, { c: "page", lw: 1.5 }));
    items.push(line(x, y - s, x, y + s, { c: "page", lw: 1.5 }));
  }
  return items;
}

// The largest of some losses; null where none is known.
function worst(all) {
  const known = all.filter((lost) => lost !== null);
  return known.length ? Math.max(...known) : null;
}

const INKS = { new: "newInk", fill: "fillInk" };

// Numbers of a block, each at its place; in a hatched cell on plain ground.
function written({ rows, columns, at }, { x, y, w, h, c }) {
  const [wide, high] = [w / columns, h / rows];
  const longest = Math.max(...at.map((number) => number.text.length));
  const size = Math.min(19, 0.55 * high, (1.45 * wide) / Math.max(longest, 2));
  return at.flatMap(({ row, column, text: words, struck }) => {
    const [cx, cy] = [x + (column + 0.5) * wide, y + (row + 0.5) * high];
    const own = Math.min(wide - 2, (0.62 * words.length + 0.5) * size);
    const plain = rect(cx - own / 2, cy - 0.62 * size, own, 1.24 * size, { c });
    const item = text(cx, cy + 0.36 * size, words, size, { struck, anchor: "middle", c: INKS[c] ?? "ink" });
    return c === "fill" ? [plain, item] : [item];
  });
}

function heatLevel(lost, most) {
  if (lost === Infinity) return 5;
  return Math.min(5, Math.floor((6 * lost) / Math.max(most, 1)));
}

export function lostText(lost) {
  if (lost === Infinity) return "∞";
  return lost < 0.05 ? "0" : lost.toFixed(1);
}

export function lostWords(lost) {
  return lost < 0.05 ? "no digits" : `at most ${lostText(lost)} digits`;
}

// A label as large as its cell allows, turned where the cell is tall; null where it is too small.
function fitted(tex, { x, y, w, h }, behind, turnable) {
  const unit = layout(tex, 1).width;
  const turned = turnable && h > 1.6 * w && unit > 1.3;
  const [along, across] = turned ? [h, w] : [w, h];
  const size = Math.min(15, (0.9 * along) / unit, 0.62 * across);
  if (size < 6.5) return null;
  const [W, H] = [unit * size + 4, size * 1.25];
  const [cx, cy] = [x + w / 2, y + h / 2];
  const dark = ["heat4", "heat5", "heat3"].includes(behind);
  return {
    t: "tex",
    x: cx,
    y: cy,
    tex,
    size,
    c: dark ? "heatInk" : (INKS[behind] ?? "ink"),
    turned,
    box: turned ? { x: cx - H / 2, y: cy - W / 2, w: H, h: W } : { x: cx - W / 2, y: cy - H / 2, w: W, h: H },
  };
}

// Circles around the cells of pivots: on the diagonal, or two beside it.
function circles(pivots, box, least, look) {
  const cells = pivots.flatMap(([x, z = x]) => (x === z ? [[x, x]] : [[x, z], [z, x]]));
  return cells.flatMap(([i, j]) => {
    const { x, y, w, h } = box(i, j);
    const r = Math.min(w, h) / 2 - 1;
    return r < least ? [] : [{ t: "ellipse", x: x + w / 2, y: y + h / 2, rx: r, ry: r, ...look }];
  });
}

function pivotCircles(engine, box, named, folded) {
  const last = engine.steps.at(-1);
  return (named ? engine.steps : engine.steps.slice(-1)).flatMap((record) =>
    circles(record.pivots.filter(([x]) => !folded.has(x)), box, 2.5, record === last ? { c: "ink", lw: 2 } : { c: "faint", lw: 1 }),
  );
}

// Corners of the blocks of an open bracket, as large square brackets around each.
function bracketFrames(box, pending) {
  return (pending ?? []).flatMap((b) => {
    const { x, y, w, h } = grown(box(b, b), -1);
    const d = Math.max(3, w / 4);
    const half = (side, tip) => ({
      t: "poly",
      points: [[tip, y], [side, y], [side, y + h], [tip, y + h]],
      c: "focus",
      lw: 3,
    });
    return [half(x, x + d), half(x + w, x + w - d)];
  });
}

// Frames around rows of blocks, and columns, where they stand side by side.
function rowsLit({ edge, place, margin, height, width }, blocks) {
  const at = [...new Set(blocks.map((b) => place.get(b)))].sort((a, b) => a - b);
  const look = { line: "focus", lw: 2 };
  const items = [];
  for (let from = 0; from < at.length; from++) {
    let to = from;
    while (at[to + 1] === at[to] + 1) to++;
    const [low, high] = [edge[at[from]], edge[at[to] + 1]];
    items.push(rect(margin, low, width - margin - 2, high - low, look));
    items.push(rect(low, margin, high - low, height - margin - 2, look));
    from = to;
  }
  return items;
}

function previewed(engine, preview, box) {
  const ghost = { t: "rect", line: "new", lw: 2, dash: true, c: "ghost" };
  /** @type {any[]} */
  const items = engine.madeBy(preview).map(([i, j]) => ({ ...ghost, ...grown(box(i, j), -1), i, j }));
  for (const [i, j, before, after] of preview.becomes ?? []) {
    const { x, y, w, h } = box(i, j);
    const size = Math.min(16, (1.35 * w) / Math.max(3, after.length), 0.3 * h);
    const middle = { anchor: "middle" };
    if (!items.some((item) => item.i === i && item.j === j)) items.push(rect(x, y, w, h, { c: "entry" }));
    items.push(text(x + w / 2, y + 0.4 * h, `${before} →`, 0.8 * size, middle));
    items.push(text(x + w / 2, y + 0.75 * h, after, size, { ...middle, bold: true }));
  }
  return [...items, ...circles(preview.pivots, box, 2, { c: "ink", lw: 1.5, dash: true })];
}

function margins({ rows, edge, margin, folded, labels }) {
  return rows.flatMap((b, at) => {
    const middle = (edge[at] + edge[at + 1]) / 2;
    const high = edge[at + 1] - edge[at];
    const size = Math.min(14, 8 + high / 8, Math.max(7, 0.9 * high));
    const tex = folded.has(b) ? `\\text{${labels.limb(b)}}` : labels.unknown(b);
    const label = { t: "tex", tex, size: folded.has(b) ? Math.min(size, 10) : size, c: "soft" };
    const above = Math.min(label.size, high / layout(tex, 1).width); // beside its neighbours
    const left = { ...label, x: margin / 2, y: middle };
    return above < 5 ? [left] : [left, { ...label, size: above, x: middle, y: margin / 2 + 2 }];
  });
}

function grown({ x, y, w, h }, by) {
  return { x: x - by, y: y - by, w: Math.max(0, w + 2 * by), h: Math.max(0, h + 2 * by) };
}

// The block at a point of a scene, or null.
export function blockAt(scene, x, y) {
  const find = (value) => {
    const { edge } = scene;
    if (value < edge[0] || value >= edge.at(-1)) return -1;
    let [low, high] = [0, edge.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (edge[middle] <= value) low = middle;
      else high = middle;
    }
    return low;
  };
  const [c, r] = [find(x), find(y)];
  return c < 0 || r < 0 ? null : [scene.rows[r], scene.rows[c]];
}
