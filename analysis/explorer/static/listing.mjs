// The algorithm, as the steps write it: a line for each block that a bracket forms, in the names of the
// papers.  Once an order is whole, its program's own repetition is told, which pivotree has found.

import { button, h, para, replaced } from "./dom.mjs";
import { contribution, joined, named } from "./formula.mjs";
import { Labels } from "./labels.mjs";
import { math } from "./mathml.mjs";
import { listed } from "./asking.mjs";
import { copied, panel } from "./panels.mjs";
import { NAMED } from "./scene.mjs";

const FORMS = "m mass, c its centre, I inertia, l place of the joint, q angle; rows 1 to 3 turn, 4 to 6 move.";

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

const short = ({ graph }) => graph.blocks.length <= NAMED;

// What each step forms: { step, blocks, lines }.
function written({ engine }) {
  const labels = new Labels(engine, 0);
  return engine.steps.map((record) => ({
    step: record.step,
    blocks: `(${record.pivots.flat().map((b) => labels.unknown(b)).join(" ")})`,
    lines: formed(engine, record),
  }));
}

// The loops that the program of a whole order repeats, as ``pivotree list`` tells them: { text, latex };
// null where nobody has told them.  Steps are written where blocks have names; elsewhere an order that
// has begun is told so at once.
function toldOf(session) {
  const { engine, seen, told } = session;
  if (!engine.done && short(engine)) return null;
  return seen?.algorithm ?? (told?.code === session.code ? told : null);
}

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

function textOf(session) {
  const parts = written(session).flatMap(({ blocks, lines }) => [
    `eliminate ${plain(blocks)}`,
    ...lines.map(([name, terms]) => `  ${plain(name)} = ${plain(terms)}`),
  ]);
  return `${[titleOf(session), ...parts].join("\n")}\n`;
}

function latexOf(session) {
  const rows = written(session).flatMap(({ blocks, lines }) => [
    `& \\text{eliminate } ${blocks}`,
    ...lines.map(([name, terms]) => `& \\qquad ${name} = ${terms}`),
  ]);
  return `% ${titleOf(session)}\n\\begin{align*}\n${rows.join(" \\\\\n")}\n\\end{align*}\n`;
}

// Words of LaTeX, $...$ in them typeset.
function sentence(tex) {
  const words = (text) => text.replace(/\\par\}?|\\text|[{}]/g, "").replace(/\\(.)/g, "$1");
  return tex.split("$").map((part, at) => (at % 2 ? math(part) : words(part)));
}

// The article of ``pivotree list --style latex`` as elements: letters, loops, lines and notes.
function article(latex) {
  const [letters, items] = [[], []];
  let lines = null;
  for (const row of latex.split("\n")) {
    const [, head] = /^\\medskip\\textbf\{(.*)\}$/.exec(row) ?? [];
    const letter = /^(\$[^$]*\$) & (.*) \\\\$/.exec(row);
    if (head) items.push(h("p", { class: "loop" }, ...sentence(head)));
    else if (letter && !lines) letters.push(letters.length ? "; " : "", ...sentence(letter[1]), " ", ...sentence(letter[2]));
    else if (row.startsWith("\\begin{align*}")) lines = [];
    else if (row.startsWith("\\end{align*}")) {
      items.push(...lines.map((line) => h("p", { class: "line" }, math(line))));
      lines = null;
    } else if (lines && row.startsWith("&")) lines.push(`${lines.pop()}${row.replace(/\\qquad|\\\\$/g, "")}`);
    else if (lines) lines.push(row.replace(/ \\\\$/, ""));
    else if (/\\par\}?$/.test(row)) items.push(h("p", { class: "soft" }, ...sentence(row)));
  }
  return [...items, h("p", { class: "letters" }, ...letters)];
}

// Each step with the lines that it forms, as elements.
function stepsOf(session) {
  return written(session).map(({ step, blocks, lines }) => {
    const shown = lines.map(([name, terms]) => h("p", { class: "line" }, math(`${name}=${terms}`)));
    return h("li", { class: step === session.engine.step ? "now" : "" }, h("p", {}, math(blocks)), ...shown);
  });
}

// The entries of the pivots so far in letters, TeX a line each, where Python has found them for the order
// that is seen; those of an example's own slider are another robot's.
function formsOf({ engine, seen, data, frame }) {
  const forms = (!(frame && data.frames.own) && seen?.forms) || {};
  const labels = new Labels(engine);
  const called = (b, at) => (labels.cell(b, b) || `A_{${b}}`).replace(/\}$/, `${at}}`);
  const read = (tex) =>
    tex.replace(/#(\d+)(,\d+)/g, (_, b, at) => called(Number(b), at)).replace(/@(\d+)/g, (_, k) => labels.subscript.get(Number(k)));
  const pivots = engine.steps.flatMap((record) => record.pivots.map(([b]) => b).filter((b) => b in forms));
  return pivots.flatMap((b) => data.forms[forms[b]].map(([i, j, tex]) => `${called(b, engine.graph.size[b] > 1 ? `,${i}${j}` : "")}=${read(tex)}`));
}

// Python that eliminates in this order, whatever its bodies are called.
function pythonOf(session) {
  const { form, format, data } = session;
  const model = JSON.stringify(data.model);
  const made = session.engine.graph.plain ? `pt.matrix(${model})` : `pt.build(pt.load(${model}))`;
  const order = JSON.stringify({ groups: session.named(session.groups), links: form.links, rules: form.rules });
  return [
    `# ${titleOf(session)}`,
    "from pathlib import Path",
    "import pivotree as pt",
    `system = ${made}`,
    `Path("mine.json").write_text(${JSON.stringify(order)})`,
    `print(pt.eliminate(system, pt.orderings.get("mine.json"), ${JSON.stringify(format)}).qdd)`,
    "",
  ].join("\n");
}

export function listingPanel(session, say) {
  const { node, body } = panel("Algorithm");
  const kinds = {
    text: (shown) => toldOf(shown)?.text ?? textOf(shown),
    LaTeX: (shown) => toldOf(shown)?.latex ?? latexOf(shown),
    Python: pythonOf,
  };
  const buttons = Object.entries(kinds).map(([kind, made]) => {
    const copy = (event) => copied(made(session()), `The algorithm as ${kind}`, event, say);
    return button(kind, `Copy the algorithm as ${kind}`, copy, { class: "small" });
  });
  const list = h("ol", { class: "listing" });
  const fold = button("Fold into loops", "Have Python fold these steps into loops", async () => {
    const { code, form, groups } = session();
    const { failed, ...told } = await listed({ groups: session().named(groups), links: form.links, rules: form.rules });
    if (failed) say(`Refused: ${failed}`, true);
    session().told = { code, ...told };
    show();
  });
  const entries = h("div", { class: "listing" });
  const forms = h("details", { class: "forms", ontoggle: () => show() }, h("summary", {}, "Entries of the pivots, in letters"), entries);
  const copy = h("p", { class: "row" }, h("span", { class: "soft" }, "Copy as"), ...buttons);
  body.append(list, fold, forms, copy);
  const show = () => {
    const { engine, data } = session();
    const told = toldOf(session());
    const writes = short(engine) && engine.step;
    for (const made of buttons.slice(0, 2)) made.disabled = !told?.text && !writes;
    fold.hidden = Boolean(told) || !engine.done || !data.served || engine.graph.plain;
    if (!node.open) return;
    const lines = formsOf(session());
    forms.hidden = !lines.length;
    if (forms.open) replaced(entries, ...lines.map((line) => h("p", { class: "line" }, math(line))), para("soft", FORMS));
    const why = short(engine) ? "Each step adds its lines." : `Steps of more than ${NAMED} blocks are told as loops alone.`;
    if (told?.latex) return replaced(list, h("li", {}, ...article(told.latex)));
    replaced(list, ...(writes ? stepsOf(session()) : [h("li", { class: "soft" }, why)]));
    if (engine.done && !data.served && !engine.graph.plain)
      list.append(h("li", { class: "soft" }, `pivotree list ${data.model} --order FILE.json folds these steps into loops; Export writes the file.`));
    list.scrollTop = list.scrollHeight;
  };
  node.addEventListener("toggle", show);
  return { node, show };
}
