// The formula of a block at this step: what (4) holds there, and what each pivot has added to it.

import { Labels } from "./labels.mjs";

const MOST = 6; // pivots that are written out one by one

// TeX of block (i, j): { name, terms }, name = terms; exact for any sequence of pivots.
export function formula(engine, i, j) {
  const before = [];
  let time = 0;
  for (const record of engine.steps)
    record.pivots.forEach((pivot, at) => {
      if (record.updatesOf[at].has(engine.key(i, j))) before.push({ pivot, time });
      time += 1;
    });
  const start = new Labels(engine, 0);
  const given = engine.made.get(engine.key(i, j)) === 0 || (i === j && start.cell(i, i) !== "0");
  const terms = given ? [start.cell(i, j)] : [];
  for (const { pivot, time: when } of before.slice(0, MOST)) {
    const labels = new Labels(engine, when);
    terms.push(...contribution(engine, labels, pivot, i, j, when));
  }
  if (before.length > MOST) terms.push(`+\\text{${before.length - MOST} more}`);
  const now = new Labels(engine);
  return { name: named(now, engine, i, j, time), terms: terms.length ? joined(terms) : "0" };
}

export function joined(terms) {
  return terms
    .map((t) => (/^[-+]/.test(t) ? t : `+${t}`))
    .join("")
    .replace(/^\+/, "");
}

// The paper's name, or A_ij with the number of pivots before it.
export function named(labels, engine, i, j, time) {
  const paper = labels.cell(i, j);
  if (paper) return paper;
  const { graph } = engine;
  const place = (b) => (graph.plain ? labels.subscript.get(graph.body(b)) : graph.blocks.indexOf(b) + 1);
  return `A_{${place(i)},${place(j)}}^{(${time})}`;
}

// Whether block (i, j) was nonzero when a pivot was taken.
function isThere(engine, labels, i, j) {
  const key = engine.key(i, j);
  if (i === j) return labels.cell(i, i) !== "0";
  return engine.made.get(key) === 0 || labels.changes.has(key);
}

export function contribution(engine, labels, pivot, i, j, when) {
  const factor = (a, b) => (isThere(engine, labels, a, b) ? named(labels, engine, a, b, when) : null);
  const [x, z] = pivot;
  if (z === undefined) return product(-1, [factor(i, x), inverse(factor(x, x)), factor(x, j)]);
  // [[X, 1], [1, 0]] has the inverse [[0, 1], [1, -X]]
  return [
    ...product(-1, [factor(i, x), factor(z, j)]),
    ...product(-1, [factor(i, z), factor(x, j)]),
    ...product(1, [factor(i, z), factor(x, x), factor(z, j)]),
  ];
}

function inverse(tex) {
  if (!tex) return tex;
  return /\^\{/.test(tex) ? `(${tex})^{-1}` : `${tex}^{-1}`;
}

function product(sign, factors) {
  if (factors.some((f) => !f)) return [];
  let minus = sign < 0;
  const texts = factors.map((f) => {
    if (f.startsWith("-")) minus = !minus;
    return f.replace(/^-/, "");
  });
  const kept = texts.filter((t) => t !== "I");
  return [`${minus ? "-" : "+"}${kept.length ? kept.join("") : "I"}`];
}
