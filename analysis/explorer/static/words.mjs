// What is said: of a pivot before and after it is made, of a block, of the answer.

import { plural } from "./dom.mjs";
import { spoken } from "./mathml.mjs";
import { lostWords } from "./scene.mjs";

export const count = (x) => Math.round(x).toLocaleString("en");

// What a step costs: operations that qdd needs, of all steps at the last; dense ones by their name.
function worked({ flops, operations, total }) {
  if (Number.isFinite(total)) return `${count(total)} operations in all`;
  return Number.isFinite(operations) ? plural(operations, "operation") : `${count(flops)} dense operations`;
}

// How many blocks a step makes nonzero, or would, and how many of them are counted as fill.
export function filled(engine, record) {
  const all = engine.madeBy(record).length;
  const own = record.fill.length;
  if (!own) return all ? `no block but ${all} on the diagonal` : "no block";
  return `${plural(all, "block")}: ${own} above the diagonal, counted as fill, ${own} mirrored below and ${all - 2 * own} on the diagonal`;
}

// What a pivot would do, in words.
export function foretold(session, preview) {
  if (preview.refused) return `Refused: ${preview.refused}.`;
  const { graph } = session.engine;
  const parts = [`fills ${plural(preview.fill.length, "block")} above the diagonal`, worked(preview)];
  if (preview.lost) {
    const { digits, i, j } = preview.lost;
    const where = digits < 0.05 ? "" : `, at ${graph.name(i)}, ${graph.name(j)}`;
    parts.push(`${lostWords(digits)} of ${session.format} lost${where}`);
  }
  return `As the next pivot: ${parts.join(", ")}.`;
}

// The blocks of a bracket, cut short where there are many.
export function members(session, record) {
  const { graph } = session.engine;
  const names = record.members.map((b) => graph.name(b));
  return `(${names.length > 6 ? [...names.slice(0, 4), "…", names.at(-1)].join(" ") : names.join(" ")})`;
}

// What came of a pick: a step, a refusal, or blocks in the open bracket.
export function reported(session, record) {
  if (record.refused) return `Refused: ${record.refused}.`;
  if (record.bracket) {
    const names = record.bracket.map((b) => session.engine.graph.name(b));
    return names.length ? `In the bracket: ${names.join(" ")}.` : "The bracket is empty.";
  }
  const worst = session.model.lostBy(record);
  const lost = worst ? `, ${lostWords(worst.digits)} lost` : "";
  const counts = session.model.counts()?.slice(-2);
  const total = session.engine.done ? counts?.[1] : undefined;
  const work = worked({ flops: record.flops, operations: counts?.[1] - counts?.[0], total });
  const cost = `It fills ${filled(session.engine, record)}; ${work}`;
  return `Step ${record.step}: ${members(session, record)}. ${cost}${lost}.${answered(session)}`;
}

// Digits that are kept, in figures; an order fails whose pivot is zero or whose answer is no number.
export const keptDigits = ({ digits, error, failed }, unit = "") => (failed || error === null ? "fails" : digits.toFixed(1) + unit);

export function answered(session) {
  const { engine, format, known } = session;
  if (!engine.done) return "";
  const { torn } = session;
  const whole = torn && ` Its pivots are those of ${torn.name}, one at a time: as brackets they take ${count(torn.flops)} operations.`;
  const order = known && !session.onPlan ? ` This is ${known.order.name}.` : whole || "";
  const answer = session.answer();
  if (!answer || answer.why) return ` All blocks are eliminated.${order}`;
  const kept = answer.error === null ? "the order fails" : `${keptDigits(answer, " digits")} of ${engine.graph.answer} kept`;
  return ` All blocks are eliminated: ${kept} in ${format}.${order}`;
}

// What the letters in a block's name are, in the order in which they stand there: [[TeX, words], ...].
/** @type {(told: object, tex: string) => [string, string][]} */
export function meanings(told, tex) {
  const letters = Object.keys(told).sort((a, b) => b.length - a.length);
  const found = [];
  for (let rest = tex.replace(/[_^]\{[^}]*\}|[-'*]/g, " "); rest; ) {
    const letter = letters.find((known) => rest.startsWith(known));
    if (letter && !found.includes(letter)) found.push(letter);
    rest = rest.slice(letter?.length ?? (/^\\[a-z]+(\{.\})?/i.exec(rest)?.[0].length || 1));
  }
  if (tex === "I") return [["I", "identity: the force of a body and its own acceleration"]];
  return found.map((letter) => [letter, told[letter]]);
}

// A number as a format holds it, cut where it begins to differ from the exact one: [right, wrong], and
// the exponent behind both.
export function digitsOf(value, exact, places) {
  if (!Number.isFinite(value)) return ["", String(value), ""];
  if (value === exact) return [String(Number(value.toPrecision(places))), "", ""];
  if (value === 0) return ["", "0", ""];
  const [mantissa, exponent] = value.toPrecision(places).split("e");
  const kept = exact === 0 ? 0 : Math.floor(-Math.log10(Math.abs(value - exact) / Math.abs(exact)));
  const [right] = new RegExp(`^[-0.]*(\\d\\.?){0,${kept > 0 ? kept : 0}}`).exec(mantissa);
  return [right, mantissa.slice(right.length), exponent ? `e${exponent}` : ""];
}

// A block that the keys have reached.
export function described(session, board, i, j) {
  const { engine, pending } = session;
  const label = board.labels?.cell(i, j);
  const gone = engine.gone[i] || engine.gone[j];
  const told = gone ? " Eliminated." : board.preview ? ` ${foretold(session, board.preview)}` : "";
  const open = pending ? ` Bracket open with ${plural(pending.length, "block")}.` : "";
  const where = `row ${engine.graph.name(i)}, column ${engine.graph.name(j)}`;
  return `${where}${label ? `: ${spoken(label)}` : ""}.${told}${open}`;
}
