// The page's controls: orders, formats, theme, sliders of the examples, the buttons of the steps.

import { button, h, select } from "./dom.mjs";
import { robotFields } from "./opened.mjs";
import { LAYOUTS } from "./scene.mjs";
import { FORMATS } from "./arithmetic.mjs";

// Each function takes the explorer that it steers, and gives nodes.

export function themeButton(explorer) {
  const next = { auto: "dark", dark: "light", light: "auto" };
  const sign = { auto: "◐", dark: "●", light: "○" };
  const made = button(sign.auto, "Theme: as the system", () => {
    const theme = next[explorer.root.dataset.theme];
    explorer.root.dataset.theme = theme;
    made.textContent = sign[theme];
    made.title = `Theme: ${theme === "auto" ? "as the system" : theme}`;
    made.setAttribute("aria-label", made.title);
    explorer.draw();
  });
  return made;
}

export class Controls {
  constructor(explorer) {
    const { data, session, look } = explorer;
    const orders = data.orders.map((order) => [order.name, order.name]);
    const { plain } = session.engine.graph;
    const own = [["/whole", "your own"], ...(plain ? [] : [["/split", "your own, forces split"]])];
    const choose = (name) => explorer.choose(name);
    this.order = select("Order", [...orders, ...own], session.name || "/whole", choose);
    const beside = [["", "add an order…"], ["/this", "this one, as it stands"], ...orders];
    this.beside = select("Beside it", beside, "", (name) => {
      this.beside.list.value = "";
      if (name === "/this") explorer.beside(explorer.session.code, "as it stood");
      else explorer.beside(name);
      explorer.boards.mirrors.at(-1)?.told.scrollIntoView({ block: "nearest" });
    });
    const { body, kind, pivots } = LAYOUTS;
    const rows = Object.entries(plain ? { body: "as given", pivots } : { body, kind, pivots });
    this.rows = select("Rows", rows, look.order, (order) => {
      look.order = order;
      explorer.draw();
    });
    const { graph } = session.engine;
    const limbs = [...graph.structure.order].reverse().filter((k) => graph.limb(k).size > 1);
    const folds = limbs.map((k) => [String(k), `${graph.called(k)} (${graph.limb(k).size} bodies)`]);
    this.fold = select("Fold to one block", [["", "a limb…"], ...folds], "", (k) => {
      this.fold.list.value = "";
      explorer.fold(Number(k));
    });
    const formats = Object.keys(FORMATS).map((name) => [name, name]);
    const rebuild = (name) => explorer.rebuild(name, explorer.session.frame);
    this.format = select("Format", formats, session.format, rebuild);
    const check = (text, does) => {
      const input = h("input", { type: "checkbox", onchange: () => does(input.checked) });
      return { input, node: h("label", { class: "check" }, input, text) };
    };
    const heat = check(" digits lost as heat", (on) => {
      look.heat = on;
      explorer.draw();
    });
    const named = check(plain ? " names of blocks" : " names of bodies", (on) => explorer.named(on));
    this.heat = heat.input;
    this.named = named.input;
    const fields = [...(plain ? [] : robotFields(explorer)), this.order.node, this.beside.node, this.rows.node];
    if (data.entries) fields.push(this.format.node, heat.node);
    if (data.bodies <= 13 && !(plain && session.names)) fields.push(named.node);
    if (data.bodies > 3 && !plain) fields.push(this.fold.node);
    this.sliders = data.frames ? sliders(explorer) : null;
    const zoom = (text, title, by) => button(text, title, () => explorer.zoom(by), { class: "small" });
    const view = h("div", { class: "field" }, h("span", {}, "Zoom"), h("div", { class: "row" }, zoom("−", "Smaller matrix ([)", -1), zoom("+", "Larger matrix (])", 1)));
    this.node = h("div", { class: "controls" }, ...fields, ...(this.sliders?.nodes ?? []), view);
  }

  draw(session, look) {
    this.heat.checked = look.heat;
    this.named.checked = session.names;
    this.rows.list.value = look.order;
    this.sliders?.show(session.frame);
    this.order.list.value = session.seen?.name ?? (session.form.split ? "/split" : "/whole");
    this.format.list.value = session.format;
  }
}

// A mass and an angle, whose frames are in the document; the first is what was given, but of an example.
function sliders(explorer) {
  const { names, own, ratio, tilt, frames } = explorer.data.frames;
  const power = (x) => (x >= 1e4 ? x.toExponential(0).replace("e+", "e") : String(x));
  const inputs = [
    [names[0], ratio, power],
    [names[1], tilt, (x) => `${x}°`],
  ].map(([label, values, text]) => {
    const output = h("output", {});
    const range = { type: "range", min: "0", max: String(values.length - 1), step: "1", "aria-label": label };
    const input = h("input", range);
    input.value = "0";
    const node = h("label", { class: "field" }, h("span", {}, label, " ", output), input);
    return { input, output, values, text, node };
  });
  const moved = inputs.filter(({ values }) => values.length > 1);
  const show = (frame) => {
    const at = frames.indexOf(frame);
    const places = at < 0 ? [0, 0] : [Math.floor(at / tilt.length), at % tilt.length];
    inputs.forEach(({ input, output, values, text }, which) => {
      input.value = String(places[which]);
      output.textContent = at < 0 && own ? "as given" : text(values[places[which]]);
      input.setAttribute("aria-valuetext", output.textContent);
    });
  };
  const change = () => {
    const [r, t] = inputs.map(({ input }) => Number(input.value));
    const frame = own || r || t ? frames[r * tilt.length + t] : null;
    show(frame);
    const told = moved.map(({ output }, at) => `${names[at]} ${output.textContent}.`);
    explorer.rebuild(explorer.session.format, frame, told.join(" "));
  };
  for (const { input } of inputs) input.addEventListener("input", change);
  return { nodes: moved.map(({ node }) => node), show };
}

export class Transport {
  constructor(explorer) {
    const b = (text, title, does) => button(text, title, () => explorer.act(does));
    const jump = (event) => explorer.jump(Number(event.target.value));
    const range = { type: "range", min: "0", max: "0", value: "0", "aria-label": "Step" };
    this.slider = h("input", { ...range, oninput: jump });
    this.counter = h("output", { class: "counter" });
    this.buttons = {
      start: b("Start", "To the start (Home)", "start"),
      undo: b("Undo", "Undo (U)", "undo"),
      redo: b("Redo", "Redo (R)", "redo"),
      step: b("Step", "Next step of the order (N)", "step"),
      play: b("Play", "Play (P)", "play"),
      end: b("End", "To the end of the order (End)", "end"),
      bracket: b("( Open bracket", "Open bracket (B)", "bracket"),
      cancel: b("×", "Leave the bracket (Escape)", "cancel"),
      finish: b("Finish", `Finish: eliminate what is left${explorer.session.engine.graph.plain ? "" : ", tip to base"} (F)`, "finish"),
    };
    const { bracket, cancel, finish, ...moves } = this.buttons;
    const parts = [...Object.values(moves), this.slider, this.counter, bracket, cancel, finish];
    this.node = h("div", { class: "transport", role: "group", "aria-label": "Steps" }, ...parts);
  }

  draw(session, playing) {
    const { engine, model, length } = session;
    const { slider, counter, buttons } = this;
    slider.max = String(length);
    slider.value = String(engine.step);
    slider.setAttribute("aria-valuetext", `step ${engine.step} of ${length}`);
    counter.textContent = `step ${engine.step} of ${length} · fill ${engine.fill} · ${session.cost}`;
    const pending = session.pending !== null;
    buttons.bracket.textContent = pending ? `) Close bracket of ${session.pending.length}` : "( Open bracket";
    buttons.bracket.setAttribute("aria-pressed", String(pending));
    buttons.bracket.title = pending ? `Close bracket of ${session.pending.length} (B)` : "Open bracket (B)";
    buttons.bracket.setAttribute("aria-label", buttons.bracket.title);
    buttons.play.textContent = playing ? "Pause" : "Play";
    buttons.play.setAttribute("aria-pressed", String(Boolean(playing)));
    buttons.cancel.hidden = !pending;
    buttons.undo.disabled = buttons.start.disabled = engine.step === 0;
    buttons.redo.disabled = model.redoable.length === 0;
    buttons.step.disabled = buttons.play.disabled = buttons.end.disabled = session.next === null;
    buttons.finish.disabled = engine.done;
  }
}
