// What the page's own modules make of what tests give them (test_explorer.py).  A question, "do" and
// "of", comes on standard input, the answer goes to standard output.

import { readFileSync } from "node:fs";
import { rounding } from "../../../analysis/explorer/static/arithmetic.mjs";
import { Labels } from "../../../analysis/explorer/static/labels.mjs";
import { Model, entriesOf } from "../../../analysis/explorer/static/model.mjs";

function state(engine) {
  const { graph } = engine;
  const made = [...engine.made].map(([key, step]) => [...engine.ends(key), step]);
  return {
    fill: engine.fill,
    flops: Math.round(engine.flops * 1000) / 1000,
    made: made.sort((a, b) => a[0] - b[0] || a[1] - b[1]),
    pivotable: engine.left.filter((b) => engine.diagonal[b] >= 0),
    left: engine.left.sort((a, b) => a - b),
    near: graph.blocks.map((b) => [b, [...engine.near[b]].sort((x, y) => x - y)]),
  };
}

// A sequence of pivots goes through the engine, which says what it did at every step.
function run({ data, form, attempts, format, labels }) {
  const model = new Model(data, form, format ?? "float32");
  const { engine } = model;
  const answers = [];
  const states = [JSON.stringify(state(engine))];
  const cells = [];
  const write = () => {
    const names = new Labels(engine);
    const { blocks } = engine.graph;
    cells.push(blocks.map((i) => blocks.map((j) => names.cell(i, j))));
  };
  if (labels) write();
  for (const members of attempts) {
    const before = JSON.stringify(state(engine));
    const large = model.large;
    const foreseen = model.preview(members);
    const worked = model.operations;
    const untouched = JSON.stringify(state(engine)) === before;
    const record = model.eliminate(members);
    answers.push({
      refused: record.refused ?? null,
      foreseen: foreseen.refused ?? null,
      untouched,
      same: foreseen.fill?.length === record.fill?.length && foreseen.flops === record.flops,
      foretold: foreseen.operations ?? null,
      large,
      worked: model.operations === null ? null : model.operations - worked,
      ...(record.refused ? {} : state(engine)),
    });
    if (record.refused) continue;
    states.push(JSON.stringify(state(engine)));
    if (labels) write();
    // back and forth again, now and then
    if (states.length % 3 === 0) {
      model.undo();
      model.redo();
    }
  }
  const tree = [...engine.tree().parent];
  const { height } = engine;
  const answer = model.answer();
  const { qdd } = model;
  const counts = model.counts();
  const operations = engine.done ? model.operations : null;
  let undone = true;
  for (let at = states.length - 1; at >= 0; at--) {
    undone &&= JSON.stringify(state(engine)) === states[at];
    model.undo();
  }
  const exact = (value) => (value === undefined ? null : value);
  return {
    answers,
    tree,
    height,
    undone,
    operations,
    counts,
    cells,
    digits: exact(answer?.digits),
    error: exact(answer?.error),
    qdd,
  };
}

// The end of a whole order: what the page says of qdd and of operations, or why not.
function ended({ data, form, format }) {
  const model = new Model(data, form, format);
  const { refused = null } = model.play(form.groups);
  return { qdd: model.qdd, operations: model.operations, refused, why: model.why };
}

// What stands in each cell of what is left, after each bracket of an order: [row, column, number].
function left({ data, form, groups, format }) {
  const model = new Model(data, form, format);
  const { engine } = model;
  const nonzero = (i, j) => (i === j ? engine.diagonal[i] >= 0 : engine.made.has(engine.key(i, j)));
  const cells = (i) => engine.left.filter((j) => i <= j && nonzero(i, j)).map((j) => [i, j, model.entries(i, j).low[0]]);
  const shown = () => engine.left.flatMap(cells);
  return [shown(), ...groups.map((members) => (model.play([members]).refused ? null : shown()))];
}

// Entries as they arrive, and the blocks that the page forms of them.
function read({ entries }) {
  return { entries, blocks: entriesOf(entries, (x) => x) };
}

const answers = {
  run: (cases) => cases.map(run),
  end: ({ data, orders, formats }) =>
    orders.map((form) => formats.map((format) => ended({ data, form, format }))),
  numbers: (cases) => cases.map(left),
  read,
  round: ({ format, numbers }) => numbers.map(rounding(format)).map(String),
};
const asked = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(answers[asked.do](asked.of)));
