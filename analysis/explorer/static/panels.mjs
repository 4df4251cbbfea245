// What stands beside the matrix: the block in question, numbers, checkpoints, export.

import { button, h, para, plural, replaced, select } from "./dom.mjs";
import { math, spoken } from "./mathml.mjs";
import { formula } from "./formula.mjs";
import { KINDS_OF_FILE, download, exported } from "./exporting.mjs";
import { orderIn } from "./opening.mjs";
import { lostText } from "./scene.mjs";
import { digitsOf, foretold, keptDigits, meanings, members } from "./words.mjs";
import { Session } from "./session.mjs";
import { FORMATS, digitsIn } from "./arithmetic.mjs";

const SHORT = 150; // steps, up to which formulas of large matrices are written

export function panel(title, ...children) {
  const body = h("div", { class: "body" }, ...children);
  const node = h("details", { class: "panel", open: true }, h("summary", {}, h("h2", {}, title)), body);
  return { node, body };
}

// -- the block ------------------------------------------------------------------------------------

const NAMED_FIRST = ["pdd", "qdd", "f", "M", "H", "Phi", "articulated", "composite", "D", "inertia"];

// Letters, each with what it is.
/** @type {(pairs: any[]) => any[]} */
const explained = (pairs) => pairs.flatMap(([letter, is], at) => [at ? "; " : "", math(letter), ` ${is}`]);

export function blockPanel() {
  const { node, body } = panel("Block");
  const show = (session, labels, i, j, preview, limb = "") => {
    if (limb) {
      replaced(body, para("", limb), preview && para("", foretold(session, preview)));
      return;
    }
    if (i === null) {
      const { next, data: { told = {}, structures } } = session;
      const letters = NAMED_FIRST.map((role) => structures.whole.letters[role]);
      const list = letters.flatMap((letter) => (told[letter] ? [h("dt", {}, math(letter)), h("dd", {}, told[letter])] : []));
      const ahead = next && foretold(session, session.model.preview(next)).replace("As the next pivot", `Next, ${members(session, { members: next })}`);
      const said = para("soft empty", "Point at a block, or use the arrow keys.");
      replaced(body, said, ahead && para("", ahead), h("dl", { class: "letters" }, ...list));
      return;
    }
    const { engine, model, format } = session;
    const { graph } = engine;
    const made = i === j ? engine.diagonal[i] : (engine.made.get(engine.key(i, j)) ?? -1);
    const what = made < 0 ? "zero" : made === 0 ? "a block of the matrix" : `fill of step ${made}`;
    const gone = engine.gone[i] || engine.gone[j];
    const called = h("strong", {}, `${graph.name(i)}, ${graph.name(j)}`);
    const written = made >= 0 && (labels || engine.steps.length < SHORT);
    const tex = made < 0 ? "" : (labels?.cell(i, j) ?? "");
    const names = [tex, ...(labels ? (i === j ? [i] : [i, j]).map((b) => labels.unknown(b)) : [])];
    const letters = new Map(names.flatMap((name) => meanings(session.data.told ?? {}, name)));
    const numbers = made < 0 ? null : model.entries(i, j);
    const lost = gone ? null : model.lost(i, j);
    const share = blameOf(session, gone ? Math.max(engine.gone[i], engine.gone[j]) : 0);
    replaced(
      body,
      para("", called, ` · ${graph.size[i]}×${graph.size[j]} · ${what}`),
      written && formulaOf(engine, i, j),
      letters.size && para("letters", ...explained([...letters])),
      numbers && entriesTable(numbers, format),
      lost !== null && para("", `${lostText(lost)} of ${digitsIn(format).toFixed(1)} digits of ${format} lost so far.`),
      preview && para(preview.refused ? "refused" : "", foretold(session, preview)),
      share && para("", share),
    );
  };
  return { node, show };
}

function formulaOf(engine, i, j) {
  const { name, terms } = formula(engine, i, j);
  const whole = `${name} = ${terms}`;
  const said = { class: "formula", tabindex: "0", "aria-label": `Formula: ${spoken(whole)}` };
  return h("p", said, math(name === terms ? name : whole));
}

// The entries of a block, their wrong digits struck out.
function entriesTable({ rows, columns, low, high }, format) {
  const places = Math.min(8, Math.ceil(FORMATS[format].bits * Math.log10(2)));
  const cell = (value, exact) => {
    if (value === 0 && exact === 0) return h("td", { class: "soft" }, "0");
    const [right, wrong, power] = digitsOf(value, exact, places);
    return h("td", { title: `${format}: ${value}; float64: ${exact}` }, right, wrong ? h("s", {}, wrong) : null, power);
  };
  const line = (_, r) => h("tr", {}, ...Array.from({ length: columns }, (__, c) => cell(low[r * columns + c], high[r * columns + c])));
  const other = low.length === 1 && low[0] !== high[0] ? `: ${high[0]}` : "";
  const told = format === "float64" ? "in float64" : `in ${format}; digits that float64 has otherwise are struck out${other}`;
  const lines = h("table", {}, h("tbody", {}, ...Array.from({ length: rows }, line)));
  return h("div", { class: "entries" }, lines, para("soft", told));
}

// How much of the order's error a step has caused, where it is known.
function blameOf(session, step) {
  const blame = session.onPlan && !session.frame && session.order(session.name)?.blame;
  const found = step && blame ? blame.pivots.find(([s]) => s === step) : null;
  if (!found) return "";
  return `Blame: step ${step} causes ${Math.round(100 * found[1]) || 0} % of the error of ${blame.output} in ${blame.format}.`;
}

// -- numbers --------------------------------------------------------------------------------------

export function numbersPanel(replay) {
  const { node, body } = panel("Numbers");
  const show = (session) => {
    const { engine, model, data } = session;
    const { failed, why, stopped } = model;
    const below = data.entries ? " Measured errors are below." : "";
    replaced(
      body,
      why && para("soft", `No numbers of its own: ${why}.${below}`),
      !why && stopped && para("soft", `${stopped}.`),
      failed && para("refused", `In ${session.format} the ${failedPivot(engine, failed)}.`),
      answerOf(session),
      data.orders.length && table(session, replay),
      ...culprits(session),
    );
  };
  return { node, show };
}

function failedPivot({ graph }, { block, step, value }) {
  return `pivot ${graph.name(block)} of step ${step} is ${value === 0 ? "zero" : "not a number"}`;
}

// The digits that the order keeps, or why they are not told.
function answerOf(session) {
  const { engine, model, format } = session;
  const answer = session.answer();
  if (answer?.why) return para("soft", `No certified answer in ${format}: ${answer.why}`);
  if (answer) {
    const by = answer.by === "pivotree" ? "measured by pivotree" : "computed on this page";
    const error = answer.error === null ? "" : ` of ${engine.graph.answer} kept`;
    return para("answer", h("strong", {}, keptDigits(answer, " digits")), `${error} in ${format}; error ${answer.error?.toExponential(1) ?? "not a number"} against the certified answer, ${by}.`);
  }
  if (model.why) return null;
  const left = plural(engine.left.length, "block");
  return para("soft", `The answer in ${format} follows once all ${left} left are eliminated.`);
}

function table(session, replay) {
  const { data, format, frame } = session;
  const measured = (order) => (frame ? framed(session, order) : order.formats?.[format]);
  const digits = (order) => {
    const found = order.refused ? { failed: true } : measured(order);
    return found ? `${keptDigits(found)}${found.marked ? "*" : ""}` : "·";
  };
  const said = (order) => measured(order)?.failed ?? measured(order)?.marked ?? order.refused ?? "";
  const current = session.seen;
  const rows = data.orders.map((order) => {
    const what = `Replay ${order.name}: ${order.what} ${order.source}`;
    const cells = [
      h("td", {}, button(order.name, what, () => replay(order.name), { class: "link" })),
      h("td", {}, String(order.fill)),
      h("td", {}, String(order.height)),
      data.entries && h("td", {}, order.flops?.toLocaleString("en") ?? "–"),
      data.entries && h("td", { title: said(order) }, digits(order)),
    ];
    return h("tr", { class: order === current ? "now" : "" }, ...cells);
  });
  const titles = ["order", "fill", "height", ...(data.entries ? ["ops", "digits"] : [])];
  const head = h("thead", {}, h("tr", {}, ...titles.map((title) => h("th", { scope: "col" }, title))));
  const by = frame ? "of the mass and the angle that are set, computed on this page" : "measured by pivotree";
  const ops = `; ops: operations, composite inertias as ten numbers${frame ? ", of the model as given" : ""}`;
  const numbers = data.entries ? `, digits in ${format} ${by}${session.engine.graph.plain ? "" : ops}` : "";
  const starred = data.orders.some((order) => measured(order)?.marked) ? "; *: not to be relied on" : "";
  const caption = h("caption", {}, `Registered orders${numbers}${starred}`);
  return h("div", { class: "scroll" }, h("table", {}, caption, head, h("tbody", {}, ...rows)));
}

// Digits of a registered order with the masses and the tilt of a frame, by this page: null before they
// are known, where the order has no numbers here.
function framed({ data, format, frame }, order) {
  const kept = (frame.digits ??= new Map());
  const key = `${format} ${order.name}`;
  if (!kept.has(key)) {
    const session = new Session(data, format, frame);
    session.choose(order.name);
    const { failed } = session.whole;
    const answer = session.whole.answer();
    if (failed) kept.set(key, { failed: failedPivot(session.engine, failed) });
    else kept.set(key, Number.isFinite(answer?.digits) ? answer : null);
  }
  return kept.get(key);
}

function culprits(session) {
  const blame = session.onPlan && session.engine.done && !session.frame && session.order(session.name)?.blame;
  if (!blame) return [];
  const share = (c) => `${Math.round(100 * c.share) || 0} % `;
  const items = blame.top
    .slice(0, 4)
    .map((c) => h("li", {}, share(c), h("code", {}, c.formula), c.step ? `, step ${c.step}` : ""));
  return [para("", blame.sentence), h("ol", { class: "culprits" }, ...items)];
}

// -- checkpoints ----------------------------------------------------------------------------------

export function checkpointPanel(session, go, beside, say) {
  const { node, body } = panel("Checkpoints");
  node.open = false;
  const told = { "aria-label": "Name of the checkpoint", placeholder: "name", maxlength: "40" };
  const name = h("input", { type: "text", ...told });
  const list = h("ul", { class: "plain" });
  const saved = new Map();
  const draw = () => {
    const items = [...saved].map(([key, code]) => {
      const forget = () => (saved.delete(key), draw());
      const back = button(key, `Go to checkpoint ${key}`, () => go(code, key), { class: "link" });
      const shown = `Show checkpoint ${key} beside this order`;
      const more = button("⇉", shown, () => beside(code, key), { class: "small" });
      return h("li", {}, back, " ", more, " ", button("×", `Forget checkpoint ${key}`, forget, { class: "small" }));
    });
    replaced(list, ...items);
  };
  const keep = (event) => {
    event.preventDefault();
    const called = name.value.trim() || `step ${session().engine.step}`;
    saved.set(called, session().code);
    name.value = "";
    say(`Checkpoint ${called} is set.`);
    draw();
  };
  const form = h("form", { class: "row", onsubmit: keep }, name, h("button", { type: "submit" }, "Set"));
  body.append(form, list);
  const focus = () => {
    node.open = true;
    name.focus();
  };
  return { node, focus };
}

// Copy a text, and say so on the button that asked for it too; where the browser allows none, it stands below.
export async function copied(text, called, { target }, say) {
  const host = target.parentElement;
  host.querySelector("textarea")?.remove();
  try {
    await navigator.clipboard.writeText(text);
    say(`${called} is copied.`);
    target.classList.add("copied");
    setTimeout(() => target.classList.remove("copied"), 1500);
  } catch {
    // a page from a file may not be allowed to
    const field = h("textarea", { readonly: true, rows: "8", "aria-label": called }, text);
    host.append(field);
    field.select();
    say(`The browser lets this page copy nothing: ${called} stands below the buttons.`);
  }
}

// A button that copies what shows others exactly this view.
export function shareButton({ model, served }, say) {
  // a file and a server of this machine are nobody else's
  const mine = served || location.protocol === "file:";
  const sent = () => (mine ? `pivotree explore ${model} -o page.html, and open page.html${location.hash}` : location.href);
  return button("Share", "Share: copy what shows others exactly this view", (event) => copied(sent(), "This view", event, say));
}

// -- export ---------------------------------------------------------------------------------------

export function exportPanel(session, look, palette, say, drawn, chosen) {
  const { node, body } = panel("Export");
  node.open = false;
  const step = (label, value) =>
    h("input", { type: "number", min: "0", step: "1", value, placeholder: "now", "aria-label": label });
  const ends = [step("First step", "0"), step("Last step", "")];
  const between = h("label", { class: "row", hidden: true }, "from ", ends[0], " to ", ends[1]);
  const what = [["step", "this step"], ["range", "a range of steps"]];
  const range = select("what", what, "step", (value) => (between.hidden = value !== "range"));
  const make = async (kind) => {
    const { engine, length } = session();
    const steps = ends.map(({ value }) => (value === "" ? engine.step : Number(value)));
    const here = kind === "film" ? [0, length] : [engine.step, engine.step]; // a film is of all steps
    const [first, last] = between.hidden ? here : steps;
    const whole = Number.isInteger(first) && Number.isInteger(last);
    if (!whole || first < 0 || first > last || last > length) {
      say(`Refused: there are steps 0 to ${length}, not ${first} to ${last}.`, true);
      return;
    }
    const [blob, file] = await exported(session(), look, palette(), kind, first, last);
    download(blob, file);
    const missing = kind === "json" && !engine.done ? plural(engine.left.length, "block") : "";
    say(`${file} is written.${missing && ` It is not complete: pivotree will name the ${missing} left out.`}`);
  };
  const open = (name, text) => {
    try {
      const order = orderIn(text, session().engine.graph.plain);
      session().setNamed(order);
      drawn();
      say(`${name}: ${plural(order.groups.length, "step")}.`);
    } catch (error) {
      say(`Refused: ${name}: ${error.message}.`, true);
    }
  };
  const opened = ({ target }) => {
    chosen(target.files[0]);
    target.value = "";
  };
  const input = h("input", { type: "file", "aria-label": "Open an order or a robot", onchange: opened });
  const kinds = KINDS_OF_FILE.map((kind) => {
    return button({ tikz: "TikZ", film: "film" }[kind] ?? kind.toUpperCase(), `Export as ${kind}`, () => make(kind));
  });
  const frame = () => `<iframe src="${location.href}" title="In which order would you eliminate?" width="100%" height="800"></iframe>`;
  const embed = button("embed", "Copy what embeds this view in another page", (event) => copied(frame(), "The frame", event, say));
  body.append(
    range.node,
    between,
    h("div", { class: "row" }, ...kinds, embed),
    para("soft", "The JSON is an order: pivotree solve MODEL --order FILE.json. A robot's file: pivotree explore FILE"),
    h("label", { class: "field" }, h("span", {}, "Open such a file, or a robot's"), input),
  );
  return { node, open };
}
