// What sets two orders apart, in a sentence or two: where they part, fill, operations, and where digits go.

import { h, plural } from "./dom.mjs";
import { Labels } from "./labels.mjs";
import { math } from "./mathml.mjs";
import { same } from "./session.mjs";

const TOLD = 0.3; // digits by which two orders must differ to be told apart

// The first bracket, from 0, in which two orders are not the same; -1 where they are.
export function partsAt(one, other) {
  const [a, b] = [one.groups, other.groups];
  const places = [...(a.length > b.length ? a : b).keys()];
  return places.find((at) => !same(a[at], b[at])) ?? -1;
}

// What ``other``, called ``name``, does otherwise than ``one``: nodes for a paragraph.
export function difference(one, other, name) {
  const at = partsAt(one, other);
  if (at < 0 && JSON.stringify(one.form) === JSON.stringify(other.form)) return ["The two are the same order."];
  const bracket = (session) => {
    const group = session.groups[at];
    return group ? `(${group.map((b) => session.engine.graph.name(b)).join(" ")})` : "nothing";
  };
  const where = at < 0 ? "The same brackets, with other switches" : `First different at bracket ${at + 1}: ${bracket(other)} instead of ${bracket(one)}`;
  const [a, b] = [one.sum, other.sum];
  if (a.left || b.left) return [`${where}. One of them is not finished.`];
  const known = a.operations !== null && b.operations !== null;
  const parts = [compared("fills", b.fill - a.fill, "block"), known ? compared("takes", b.operations - a.operations, "operation") : ""];
  const said = parts.filter(Boolean).join(" and ") || "takes as many blocks and operations";
  return [`${where}. In all ${name} ${said}.`, ...digitsTold(one, other, b.digits - a.digits, name)];
}

function compared(does, by, word) {
  return by ? `${does} ${plural(Math.abs(by), word)} ${by > 0 ? "more" : "fewer"}` : "";
}

function digitsTold(one, other, by, name) {
  if (!(Math.abs(by) >= TOLD)) return Number.isFinite(by) ? [" They keep as many digits."] : [];
  const loser = by < 0 ? other : one;
  const found = lossOf(loser.whole);
  const more = ` It keeps ${Math.abs(by).toFixed(1)} digits ${by > 0 ? "more" : "fewer"}`;
  if (!found) return [`${more}.`];
  const tex = new Labels(loser.whole.engine).cell(found.i, found.j);
  const graph = loser.whole.engine.graph;
  const block = tex ? math(tex) : h("span", {}, `${graph.name(found.i)}, ${graph.name(found.j)}`);
  return [`${more}: ${loser === other ? name : one.title} loses them at bracket ${found.step}, in `, block, "."];
}

// The first step that loses nearly all that any does: { step, i, j }, of a block or a pivot; or null.
function lossOf(model) {
  const found = model.engine.steps.flatMap((record) => {
    const pivots = record.members.map((b) => ({ digits: model.lost(b, b), i: b, j: b }));
    return [...pivots, model.lostBy(record)].filter((lost) => lost && lost.digits !== null).map((lost) => ({ ...lost, step: record.step }));
  });
  const most = Math.max(...found.map(({ digits }) => digits));
  return found.find(({ digits }) => digits >= 0.8 * most) ?? null;
}
