// The algorithm, as the steps write it: a line for each block that a bracket forms, in the names of the
// papers; steps that say the same of another body are folded into a loop.

import { button, h, plural, replaced } from "./dom.mjs";
import { contribution, joined, named } from "./formula.mjs";
import { Labels } from "./labels.mjs";
import { math } from "./mathml.mjs";
import { panel } from "./panels.mjs";
import { NAMED } from "./scene.mjs";

// How many pivots are done when a block is next of use: as a pivot's own, or to be added to; all of them
// where it is not.  What it is called then, it is called where it is formed.
function nextUse(engine, key, from) {
  const [i, j] = engine.ends(key);
  let done = 0;
  for (const { pivots, updatesOf } of engine.steps)
    for (const [at, pivot] of pivots.entries()) {
      if (done >= from && (pivot.includes(i) || pivot.includes(j) || updatesOf[at].has(key))) return done;
      done += 1;
    }
  return done;
}

// TeX of what a step forms: [name, terms] a block, those of its own bracket first.
function formed(engine, record) {
  const before = engine.steps.slice(0, record.step - 1).reduce((sum, { pivots }) => sum + pivots.length, 0);
  const labels = record.pivots.map((_, at) => new Labels(engine, before + at));
  const end = before + record.pivots.length;
  const own = new Set(record.members);
  const keys = [...record.updates].map((key) => [key, engine.ends(key).filter((b) => !own.has(b)).length]);
  return keys.sort((a, b) => a[1] - b[1]).flatMap(([key]) => {
    const [i, j] = engine.ends(key);
    const made = i === j ? engine.diagonal[i] : engine.made.get(key);
    const terms = record.pivots.flatMap((pivot, at) =>
      record.updatesOf[at].has(key) ? contribution(engine, labels[at], pivot, i, j, before + at) : [],
    );
    if (!terms.length) return [];
    const start = made < record.step ? [named(labels[0], engine, i, j, before)] : [];
    const use = nextUse(engine, key, own.has(i) || own.has(j) ? before + lastOf(record, key) : end);
    const line = [named(new Labels(engine, use), engine, i, j, use), joined([...start, ...terms])];
    return line[0] === line[1] ? [] : [line];
  });
}

// The number of a step's pivots after the last that adds to a block.
const lastOf = ({ updatesOf }, key) => updatesOf.findLastIndex((updates) => updates.has(key)) + 1;

// Names of bodies in TeX replaced: each of an index by what ``other`` has for it.
function reindexed(tex, other) {
  const whole = (text) => other.get(text) ?? text;
  const index = (text) => {
    if (other.has(text)) return whole(text);
    return text.includes(",") ? text.split(",").map(whole).join(",") : [...text].map(whole).join("");
  };
  return tex.replace(/_\{([^}]*)\}/g, (_, text) => `_{${index(text)}}`);
}

// Steps that follow each other and form the same of one body after another: [{ steps, bodies, blocks,
// lines }], lines in k and its parent p where there are several.
export function written(session) {
  const { engine } = session;
  const { graph } = engine;
  const labels = new Labels(engine, 0);
  const called = (k) => labels.subscript.get(k) ?? "";
  const result = [];
  for (const record of engine.steps) {
    const k = graph.bodies(record.members[0])[0];
    const up = graph.structure.parent[k];
    const lines = formed(engine, record);
    // every name stands for itself, so that body 12 is no pair of 1 and 2
    const letters = new Map([...labels.subscript.values()].map((name) => [name, name]));
    letters.set(called(k), "k");
    if (up >= 0) letters.set(called(up), "p");
    const general = lines.map((line) => line.map((tex) => reindexed(tex, letters)));
    const blocks = `(${record.pivots.flat().map((b) => reindexed(labels.unknown(b), letters)).join(" ")})`;
    const key = JSON.stringify([blocks, general]);
    const last = result.at(-1);
    if (last?.key === key) {
      last.steps.push(record.step);
      last.bodies.push(called(k));
      Object.assign(last, { lines: general, blocks });
    } else {
      const exact = `(${record.pivots.flat().map((b) => labels.unknown(b)).join(" ")})`;
      result.push({ key, steps: [record.step], bodies: [called(k)], lines, blocks: exact });
    }
  }
  return result;
}

const loopOf = ({ bodies }) => (bodies.length > 1 ? `for k in ${bodies.join(", ")}, p the parent of k` : "");

// TeX for a keyboard: M^_k for \hat{M}_{k}.
function plain(tex) {
  const accents = { hat: "^", tilde: "~", ddot: "dd", bar: "-" };
  return tex
    .replace(/\\(hat|tilde|ddot|bar)\{?([A-Za-z])\}?/g, (_, accent, letter) => letter + accents[accent])
    .replace(/\\mathcal\{M\}/g, "L")
    .replace(/\\text\{([^}]*)\}/g, "$1")
    .replace(/\\([A-Za-z]+)/g, "$1")
    .replace(/\^\{\*\}/g, "' ")
    .replace(/_\{([^}]*)\}/g, "_$1 ")
    .replace(/\^\{([^}]*)\}/g, "^$1 ")
    .replace(/ +(['^)])/g, "$1")
    .replace(/([-+=])/g, " $1 ")
    .replace(/\^ - 1/g, "^-1")
    .replace(/ +/g, " ")
    .trim();
}

function titleOf(session) {
  const { seen, title, data } = session;
  return `${seen ? `${seen.name} (${seen.source})` : title} on ${data.model}`;
}

export function textOf(session) {
  const parts = written(session).flatMap((part) => {
    const loop = loopOf(part);
    const indent = loop ? "    " : "";
    const head = `eliminate ${plain(part.blocks)}`;
    return [...(loop ? [`${loop}:`] : []), indent + head, ...part.lines.map(([name, terms]) => `${indent}  ${plain(name)} = ${plain(terms)}`)];
  });
  return `${[titleOf(session), ...parts].join("\n")}\n`;
}

export function latexOf(session) {
  const rows = written(session).flatMap((part) => {
    const loop = loopOf(part);
    const said = `\\text{${loop ? `${loop}: ` : ""}eliminate } ${part.blocks}`;
    return [`& ${said}`, ...part.lines.map(([name, terms]) => `& \\qquad ${name} = ${terms}`)];
  });
  return `% ${titleOf(session)}\n\\begin{align*}\n${rows.join(" \\\\\n")}\n\\end{align*}\n`;
}

// Python that eliminates in this order, whatever its bodies are called.
export function pythonOf(session) {
  const { form, format, data } = session;
  const order = JSON.stringify({ groups: session.named(session.groups), links: form.links, rules: form.rules });
  return [
    `# ${titleOf(session)}`,
    "from pathlib import Path",
    "from pivotree import kkt, orderings",
    `system = kkt.build(kkt.load(${JSON.stringify(data.model)}))`,
    `Path("mine.json").write_text(${JSON.stringify(order)})`,
    `print(kkt.eliminate(system, orderings.get("mine.json"), ${JSON.stringify(format)}).qdd)`,
    "",
  ].join("\n");
}

export function listingPanel(session, say) {
  const { node, body } = panel("Algorithm");
  const copied = async (kind, text) => {
    try {
      await navigator.clipboard.writeText(text);
      say(`The algorithm is copied as ${kind}.`);
    } catch {
      // a page from a file may not be allowed to
      const field = h("textarea", { readonly: true, rows: "8", "aria-label": `The algorithm as ${kind}` }, text);
      copy.after(field);
      field.select();
      say(`The browser lets this page copy nothing: the algorithm stands below the buttons as ${kind}.`);
    }
  };
  const kinds = { text: textOf, LaTeX: latexOf, Python: pythonOf };
  const buttons = Object.entries(kinds).map(([kind, made]) =>
    button(kind, `Copy the algorithm as ${kind}`, () => (body.querySelector("textarea")?.remove(), copied(kind, made(session()))), { class: "small" }),
  );
  const list = h("ol", { class: "listing" });
  const copy = h("p", { class: "row" }, h("span", { class: "soft" }, "Copy as"), ...buttons);
  body.append(list, copy);
  const show = () => {
    const { engine } = session();
    const short = engine.graph.blocks.length <= NAMED;
    for (const made of buttons.slice(0, 2)) made.disabled = !short || !engine.step;
    if (!node.open) return;
    if (!short || !engine.step) {
      const why = short ? "Each step adds its lines." : `Blocks have names up to ${NAMED} of them.`;
      replaced(list, h("li", { class: "soft" }, why));
      return;
    }
    const items = written(session()).map((part) => {
      const now = part.steps.includes(engine.step);
      const loop = loopOf(part);
      const lines = part.lines.map(([name, terms]) => h("p", { class: "line" }, math(`${name}=${terms}`)));
      const head = h("summary", {}, loop ? `${loop}: ` : "", math(part.blocks), loop ? ` ${plural(part.steps.length, "step")}` : "");
      return h("li", { class: now ? "now" : "" }, h("details", { open: true }, head, ...lines));
    });
    replaced(list, ...items);
    list.scrollTop = list.scrollHeight;
  };
  node.addEventListener("toggle", show);
  return { node, show };
}
