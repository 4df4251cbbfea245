// What stands beside the matrix: the block in question, numbers, challenges, checkpoints, export.

import { button, h, plural, replaced, select } from "./dom.mjs";
import { math, spoken } from "./mathml.mjs";
import { formula } from "./formula.mjs";
import { challengesOf } from "./challenges.mjs";
import { KINDS_OF_FILE, download, exported } from "./exporting.mjs";
import { orderIn } from "./opening.mjs";
import { lostText } from "./scene.mjs";
import { digitsOf, foretold, meanings } from "./words.mjs";
import { Session } from "./session.mjs";
import { FORMATS, unit } from "./arithmetic.mjs";

const SHORT = 150; // steps, up to which formulas of large matrices are written

export function panel(title, ...children) {
  const body = h("div", { class: "body" }, ...children);
  const node = h("details", { class: "panel", open: true }, h("summary", {}, h("h2", {}, title)), body);
  return { node, body };
}

// -- the block ------------------------------------------------------------------------------------

export function blockPanel() {
  const { node, body } = panel("Block");
  const show = (session, labels, i, j, preview) => {
    if (i === null) {
      replaced(body, h("p", { class: "soft empty" }, "Point at a block, or move to it with the arrow keys."));
      return;
    }
    const { engine, model } = session;
    const { graph } = engine;
    const made = i === j ? engine.diagonal[i] : (engine.made.get(engine.key(i, j)) ?? -1);
    const what = made < 0 ? "zero" : made === 0 ? "a block of the matrix" : `fill of step ${made}`;
    const gone = engine.gone[i] || engine.gone[j];
    const rows = [
      h(
        "p",
        {},
        h("strong", {}, `${graph.name(i)}, ${graph.name(j)}`),
        ` · ${graph.size[i]}×${graph.size[j]} · ${what}`,
      ),
    ];
    if (made >= 0 && (labels || engine.steps.length < SHORT)) {
      const { name, terms } = formula(engine, i, j);
      rows.push(
        h(
          "p",
          { class: "formula", tabindex: "0", "aria-label": `Formula: ${spoken(`${name} = ${terms}`)}` },
          math(name === terms ? name : `${name} = ${terms}`),
        ),
      );
    }
    const tex = made < 0 ? "" : (labels?.cell(i, j) ?? "");
    const names = [tex, ...(labels ? (i === j ? [i] : [i, j]).map((b) => labels.unknown(b)) : [])];
    const letters = new Map(names.flatMap((name) => meanings(session.data.told ?? {}, name)));
    if (letters.size)
      rows.push(h("p", { class: "letters" }, ...[...letters].flatMap(([letter, is], at) => [at ? "; " : "", math(letter), ` ${is}`])));
    const numbers = made < 0 ? null : model.entries(i, j);
    if (numbers) rows.push(entriesTable(numbers, session.format));
    const lost = gone ? null : model.lost(i, j);
    if (lost !== null)
      rows.push(
        h(
          "p",
          {},
          `${lostText(lost)} of ${(-Math.log10(unit(session.format))).toFixed(1)} digits of ${session.format} lost so far.`,
        ),
      );
    if (preview) rows.push(h("p", { class: preview.refused ? "refused" : "" }, foretold(session, preview)));
    const share = blameOf(session, gone ? Math.max(engine.gone[i], engine.gone[j]) : 0);
    if (share) rows.push(h("p", {}, share));
    replaced(body, ...rows);
  };
  show(null, null, null, null, null);
  return { node, show };
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
  return h("div", { class: "entries" }, lines, h("p", { class: "soft" }, told));
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
    const { engine, model, format, data } = session;
    const rows = [];
    const answer = session.answer();
    const failed = model.failed;
    if (model.why)
      rows.push(
        h(
          "p",
          { class: "soft" },
          `No numbers of its own: ${model.why}.${data.entries ? " Measured errors are below." : ""}`,
        ),
      );
    else if (model.stopped) rows.push(h("p", { class: "soft" }, `${model.stopped}.`));
    if (failed)
      rows.push(
        h(
          "p",
          { class: "refused" },
          `In ${format} the pivot ${engine.graph.name(failed.block)} of step ${failed.step} is ${failed.value === 0 ? "zero" : "not a number"}.`,
        ),
      );
    if (answer?.why) rows.push(h("p", { class: "soft" }, `No certified answer in ${format}: ${answer.why}`));
    else if (answer)
      rows.push(
        h(
          "p",
          { class: "answer" },
          h("strong", {}, `${answer.digits.toFixed(1)} digits`),
          ` of qdd kept in ${format}; error ${answer.error === null ? "not a number" : answer.error.toExponential(1)} against the certified answer${answer.by === "pivotree" ? ", measured by pivotree" : ", computed on this page"}.`,
        ),
      );
    else if (!model.why)
      rows.push(
        h(
          "p",
          { class: "soft" },
          `The answer in ${format} follows once all ${plural(engine.left.length, "block")} left are eliminated.`,
        ),
      );
    if (data.orders.length) rows.push(table(session, replay));
    replaced(body, ...rows, ...culprits(session));
  };
  // what the program itself has measured, where it is behind the page
  const measured = ({ error, digits, failed, marked, flops }, format) => {
    const kept = failed
      ? `failed: ${failed}`
      : `${digits.toFixed(1)} digits, error ${error.toExponential(1)}${marked ? `; not to be relied on: ${marked}` : ""}`;
    const traced = flops ? ` ${flops.toLocaleString("en")} operations, traced.` : "";
    body.querySelector(".answer")?.remove(); // one answer for one order
    body.prepend(h("p", { class: "answer" }, `Measured in ${format} by pivotree: ${kept}.${traced}`));
  };
  return { node, show, measured };
}

function table(session, replay) {
  const { data, format } = session;
  const measured = (order) => (session.frame ? framed(session, order) : order.formats?.[format]);
  const digits = (order) => {
    const found = measured(order);
    if (order.refused || found?.failed || (found && found.digits === null)) return "–";
    return found ? `${found.digits.toFixed(1)}${found.marked ? "*" : ""}` : "·";
  };
  const said = (order) => measured(order)?.failed ?? measured(order)?.marked ?? order.refused ?? "";
  const starred = data.orders.some((order) => measured(order)?.marked);
  const current = session.seen;
  const rows = data.orders.map((order) =>
    h(
      "tr",
      { class: order === current ? "now" : "" },
      h(
        "td",
        {},
        button(order.name, `Replay ${order.name}: ${order.what} ${order.source}`, () => replay(order.name), {
          class: "link",
        }),
      ),
      h("td", {}, String(order.fill)),
      h("td", {}, String(order.height)),
      data.entries ? h("td", {}, order.flops?.toLocaleString("en") ?? "–") : null,
      data.entries ? h("td", { title: said(order) }, digits(order)) : null,
    ),
  );
  const titles = ["order", "fill", "height", ...(data.entries ? ["ops", "digits"] : [])];
  const head = h("thead", {}, h("tr", {}, ...titles.map((title) => h("th", { scope: "col" }, title))));
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      {},
      h(
        "caption",
        {},
        `Registered orders${data.entries ? `, digits in ${format} ${session.frame ? "of the masses and the tilt that are set, computed on this page" : "measured by pivotree"}; ops: operations, traced${session.frame ? ", of the example as given" : ""}` : ""}${starred ? "; *: not to be relied on" : ""}`,
      ),
      head,
      h("tbody", {}, ...rows),
    ),
  );
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
    if (failed) kept.set(key, { failed: `pivot ${session.engine.graph.name(failed.block)} of step ${failed.step} is ${failed.value === 0 ? "zero" : "not a number"}` });
    else kept.set(key, Number.isFinite(answer?.digits) ? { digits: answer.digits } : null);
  }
  return kept.get(key);
}

function culprits(session) {
  const blame = session.onPlan && session.engine.done && !session.frame && session.order(session.name)?.blame;
  if (!blame) return [];
  return [
    h("p", {}, blame.sentence),
    h(
      "ol",
      { class: "culprits" },
      ...blame.top
        .slice(0, 4)
        .map((c) =>
          h(
            "li",
            {},
            `${Math.round(100 * c.share) || 0} % `,
            h("code", {}, c.formula),
            c.step ? `, step ${c.step}` : "",
          ),
        ),
    ),
  ];
}

// -- challenges -----------------------------------------------------------------------------------

// ``reached`` tells of one that is met, after what was said.
export function challengePanel(data, say, reached) {
  const { node, body } = panel("Challenges");
  node.open = false;
  const kept = progressOf(data.model);
  const items = challengesOf(data).map((challenge) => {
    const mark = h("span", { class: "mark", "aria-hidden": "true" });
    const text = h("span", { class: "soft" });
    const hint = h("p", { class: "hint", hidden: true });
    let given = 0;
    const more = button("Hint", `Hint: ${challenge.title}`, () => {
      hint.hidden = false;
      hint.textContent = challenge.hints[Math.min(given++, challenge.hints.length - 1)];
      say(hint.textContent);
    });
    const item = h("li", {}, mark, h("strong", {}, challenge.title), h("br"), text, " ", more, hint);
    return { challenge, mark, text, item, done: kept.has(challenge.title) };
  });
  body.append(h("ul", { class: "challenges" }, ...items.map((i) => i.item)));
  const show = (session) => {
    for (const entry of items) {
      const { title, state } = entry.challenge;
      const { done, text } = state(session);
      const spent = done && kept.spent(title, session.code);
      if (done && !entry.done && !spent) {
        reached(`Challenge reached: ${title}.`);
        kept.add(title, session.code);
        entry.done = true; // and stays so
      }
      entry.mark.textContent = entry.done ? "✓" : "○";
      entry.item.classList.toggle("done", entry.done);
      entry.text.textContent = spent ? "these steps have met another challenge: find others" : text;
    }
  };
  return { node, show };
}

// Titles of the challenges reached on a model, each with the steps that have met it, kept over formats,
// addresses and visits.
function progressOf(model) {
  const key = `pivotree challenges ${model}`;
  let known = {};
  try {
    known = Object(JSON.parse(localStorage.getItem(key)));
  } catch {
    // a browser may keep nothing for a file; then progress lasts as long as the page
  }
  const add = (title, steps) => {
    known[title] = steps;
    try {
      localStorage.setItem(key, JSON.stringify(known));
    } catch {
      // as above
    }
  };
  // Whether these steps have met another challenge already.
  const spent = (title, steps) => Object.entries(known).some(([other, by]) => other !== title && by === steps);
  return { has: (title) => Object.hasOwn(known, title), add, spent };
}

// -- checkpoints ----------------------------------------------------------------------------------

export function checkpointPanel(session, go, beside, say) {
  const { node, body } = panel("Checkpoints");
  node.open = false;
  const name = h("input", {
    type: "text",
    "aria-label": "Name of the checkpoint",
    placeholder: "name",
    maxlength: "40",
  });
  const list = h("ul", { class: "plain" });
  const saved = new Map();
  const keep = () => {
    const called = name.value.trim() || `step ${session().engine.step}`;
    saved.set(called, session().code);
    name.value = "";
    say(`Checkpoint ${called} is set.`);
    replaced(
      list,
      ...[...saved].map(([key, code]) =>
        h(
          "li",
          {},
          button(key, `Go to checkpoint ${key}`, () => go(code, key), { class: "link" }),
          " ",
          button("⇉", `Show checkpoint ${key} beside this order`, () => beside(code, key), { class: "small" }),
          " ",
          button(
            "×",
            `Forget checkpoint ${key}`,
            (event) => {
              saved.delete(key);
              event.target.closest("li").remove();
            },
            { class: "small" },
          ),
        ),
      ),
    );
  };
  body.append(
    h(
      "form",
      {
        class: "row",
        onsubmit: (event) => {
          event.preventDefault();
          keep();
        },
      },
      name,
      h("button", { type: "submit" }, "Set"),
    ),
    list,
  );
  return {
    node,
    focus: () => {
      node.open = true;
      name.focus();
    },
  };
}

// -- export ---------------------------------------------------------------------------------------

export function exportPanel(session, look, palette, say, drawn) {
  const { node, body } = panel("Export");
  node.open = false;
  const step = (label, value) =>
    h("input", { type: "number", min: "0", step: "1", value, placeholder: "now", "aria-label": label });
  const ends = [step("First step", "0"), step("Last step", "")];
  const between = h("label", { class: "row", hidden: true }, "from ", ends[0], " to ", ends[1]);
  const what = [
    ["step", "this step"],
    ["range", "a range of steps"],
  ];
  const range = select("what", what, "step", (value) => (between.hidden = value !== "range"));
  const make = async (kind) => {
    const { engine, length } = session();
    const steps = ends.map(({ value }) => (value === "" ? engine.step : Number(value)));
    const [first, last] = between.hidden ? [engine.step, engine.step] : steps;
    const whole = Number.isInteger(first) && Number.isInteger(last);
    if (!whole || first < 0 || first > last || last > length) {
      say(`Refused: there are steps 0 to ${length}, not ${first} to ${last}.`, true);
      return;
    }
    const [blob, file] = await exported(session(), look, palette(), kind, first, last);
    download(blob, file);
    const more =
      kind === "json" && !engine.done
        ? ` It is not complete: pivotree will name the ${plural(engine.left.length, "block")} left out.`
        : "";
    say(`${file} is written.${more}`);
  };
  const open = h("input", {
    type: "file",
    accept: ".json,application/json",
    "aria-label": "Open an order",
    onchange: async (event) => {
      const [file] = event.target.files;
      try {
        const order = orderIn(await file.text());
        session().setNamed(order);
        drawn();
        say(`${file.name}: ${plural(order.groups.length, "step")}.`);
      } catch (error) {
        say(`Refused: ${file.name}: ${error.message}.`, true);
      }
      event.target.value = "";
    },
  });
  body.append(
    range.node,
    between,
    h(
      "div",
      { class: "row" },
      ...KINDS_OF_FILE.map((kind) =>
        button(kind === "tikz" ? "TikZ" : kind.toUpperCase(), `Export as ${kind}`, () => make(kind)),
      ),
    ),
    h("p", { class: "soft" }, "The JSON is an order: pivotree solve MODEL --order FILE.json"),
    h("label", { class: "field" }, h("span", {}, "Open such a file"), open),
  );
  return { node };
}
