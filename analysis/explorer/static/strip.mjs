// The order as a strip of brackets, whose chips are unknowns: dragged, split, merged and swapped by
// mouse, touch and keys.  What a bracket meets at its turn is what tells one elimination from another.

import { button, h, plural, replaced } from "./dom.mjs";
import { LAM } from "./graph.mjs";
import { Labels } from "./labels.mjs";
import { metIn, worked } from "./session.mjs";
import { keptDigits } from "./words.mjs";

const LETTERS = ["p̈", "q̈", "f", "fᴶ", "fᶜ", "λ"];
const SLACK = 5; // CSS pixels that a pointer moves before it drags
const REACH = 90; // CSS pixels from a bracket within which something is dropped at it
const still = matchMedia("(prefers-reduced-motion: reduce)");

// Groups once some blocks have moved: into bracket ``into``, or to one of their own before bracket
// ``gap``; out of the order where neither is given.
export function movedTo(groups, blocks, { into = null, gap = null }) {
  const result = groups.map((group) => group.filter((b) => !blocks.includes(b)));
  if (into !== null) result[into].push(...blocks);
  if (gap !== null) result.splice(gap, 0, [...blocks]);
  return result.filter((group) => group.length);
}

export class Strip {
  /** @type {any} */
  actions; before; changed; chips; drag; from; groups; labels; moved; picked; seen; session;

  // actions: { arrange(groups), go(step), light(blocks) }; none where the order is only shown
  constructor(actions = null) {
    Object.assign(this, { actions, chips: new Map(), picked: null, changed: new Set(), drag: null });
    this.list = h("ol", { class: "brackets" });
    this.sum = h("p", { class: "sum" });
    const tool = (text, title, does) => button(text, title, () => this._edit(does), { class: "small" });
    this.tools = actions
      ? [
          tool("◂", "Earlier (Shift+Left)", "ArrowLeft"),
          tool("▸", "Later (Shift+Right)", "ArrowRight"),
          tool("split", "Split the bracket into its pivots (/)", "/"),
          tool("join", "Join with the next bracket (+)", "+"),
        ]
      : [];
    const last = h("div", { class: "row" }, this.sum, h("span", { class: "tools" }, ...this.tools));
    this.node = h("section", { class: "strip", "aria-label": "The order, bracket by bracket" }, this.list, last);
    if (actions) this._listen();
  }

  // -- drawing ----------------------------------------------------------------------------------

  draw(session, different = -1) {
    const { graph, step } = session.engine;
    const { format, frame } = session;
    this.session = session;
    this.groups = session.groups;
    const labels = (this.labels = new Labels(session.engine, 0));
    const key = JSON.stringify([this.groups, labels.numbered, session.form.split]);
    if (!this.moved && [key, format, frame].some((x, at) => x !== this.seen?.[at])) this.forget();
    if (key !== this.seen?.[0]) {
      const ordered = new Set(this.groups.flat());
      const rest = graph.blocks.filter((b) => !ordered.has(b));
      const [left, focus] = [this.from ?? this._places(), document.activeElement];
      replaced(
        this.list,
        ...this.groups.map((group, at) => this._bracket(graph, labels, group, at)),
        rest.length ? h("li", { class: "bracket rest" }, h("span", { class: "soft" }, "left"), ...rest.map((b) => this._chip(graph, labels, b))) : null,
      );
      if (this.node.contains(focus) || this.moved) this._chosen()?.focus({ preventScroll: true });
      if (this.moved) this._glide(left);
    }
    this.moved = false;
    this.seen = [key, format, frame];
    [...this.list.children].forEach((item, at) => {
      if (at >= this.groups.length) return;
      item.classList.toggle("done", at < step);
      item.classList.toggle("now", at === step - 1);
      item.classList.toggle("changed", this.changed.has(at));
      item.classList.toggle("different", at === different);
    });
    if (this.groups.length > 12) this.list.scrollTop = this.list.children[Math.max(0, step - 1)].offsetTop - 100; // a long order scrolls
    this._total(session);
    this._tools();
  }

  _bracket(graph, labels, group, at) {
    const names = group.map((b) => graph.name(b)).join(" ");
    const pivots = graph.inside(group);
    const chips = pivots.flatMap((pivot) => pivot.map((b) => this._chip(graph, labels, b, pivot.length > 1)));
    const told = `Bracket ${at + 1} of ${this.groups.length}: ${names}`;
    const tag = this.actions ? "button" : "span";
    const paren = (sign) => h(tag, { class: "paren", type: this.actions && "button", title: told, "aria-label": told, "data-at": at }, sign);
    const ends = group.length > 1 ? [paren("("), h("span", { class: "paren", "aria-hidden": "true", "data-at": at }, ")")] : [null, null];
    return h("li", { class: "bracket" }, ends[0], ...chips, ends[1]);
  }

  _chip(graph, labels, b, paired = false) {
    const kind = graph.kind(b);
    const sub = kind === LAM ? graph.called(b) : `${labels.subscript.get(graph.body(b)) ?? ""}${labels.bodyOf.has(graph.body(b)) ? "′" : ""}`;
    if (!this.chips.has(b)) {
      const tag = this.actions ? "button" : "span";
      this.chips.set(b, h(tag, { class: "chip", type: this.actions && "button", "data-block": b, "data-kind": graph.kinds[kind] }));
    }
    const chip = this.chips.get(b);
    chip.classList.toggle("paired", paired);
    chip.title = graph.name(b); // beside its content, which is its name
    const letter = graph.plain ? "x" : LETTERS[kind];
    if (chip.textContent !== letter + sub) replaced(chip, h("i", {}, letter), h("sub", {}, sub));
    return chip;
  }

  // What the whole order comes to, and what the last edit has changed of it.
  _total(session) {
    const { sum, format } = session;
    const was = this.before;
    const change = (key, digits = 0) => {
      const by = was && sum[key] !== null && was[key] !== null ? sum[key] - was[key] : 0;
      const text = Math.abs(by).toFixed(digits);
      return Number(text) ? h("span", { class: "change" }, ` ${by > 0 ? "+" : "−"}${Number(text).toLocaleString("en")}`) : null;
    };
    const part = (text, ...changes) => h("span", { class: "figure" }, text, ...changes);
    replaced(
      this.sum,
      h("strong", {}, sum.left ? `${plural(sum.left, "block")} left out` : "the whole order"),
      part(`fill ${sum.fill.toLocaleString("en")}`, change("fill")),
      part(worked(sum.operations, sum.dense ?? 0), change(sum.operations === null ? "dense" : "operations")),
      sum.height === null ? null : part(`height ${sum.height}`, change("height")),
      sum.digits === null ? null : part(`${keptDigits(sum.answer, " digits")} in ${format}`, change("digits", 1)),
    );
  }

  // Chips of these blocks stand out.
  mark(blocks) {
    for (const [b, chip] of this.chips) chip.classList.toggle("lit", blocks.includes(b));
  }

  _places() {
    if (still.matches) return new Map();
    return new Map([...this.chips].map(([b, chip]) => [b, chip.getBoundingClientRect()]));
  }

  // What commutes glides to its new place.
  _glide(places) {
    for (const [b, chip] of places.size ? this.chips : []) {
      const [was, is] = [places.get(b), chip.getBoundingClientRect()];
      if (!was?.width || (was.x === is.x && was.y === is.y)) continue;
      chip.animate([{ transform: `translate(${was.x - is.x}px, ${was.y - is.y}px)` }, { transform: "none" }], { duration: 260, easing: "ease-out" });
    }
  }

  // -- edits ------------------------------------------------------------------------------------

  // Another sequence, whose brackets that meet other blocks than before are told; false if it is refused.
  _arrange(groups) {
    if (JSON.stringify(groups) === JSON.stringify(this.groups)) return false;
    const { session } = this;
    const [met, before] = [metIn(session.whole.engine), session.sum];
    const refused = session.arrange(groups, session.ahead.length ? Math.min(session.engine.step, groups.length) : groups.length);
    if (!refused) {
      this.moved = true;
      const now = [...metIn(session.whole.engine)];
      this.before = before;
      this.changed = new Set(now.flatMap(([key, blocks], at) => (met.get(key) === blocks ? [] : [at])));
    }
    this.actions.arranged(refused, this.changed.size);
    return !refused;
  }

  // The order is another one: nothing was edited yet.
  forget() {
    this.before = null;
    this.changed = new Set();
  }

  _place(b) {
    return this.groups.findIndex((group) => group.includes(b));
  }

  // Blocks that are picked: a chip's, or a bracket's; those of ``picked`` with its first block.
  _members() {
    const { picked } = this;
    if (!picked) return null;
    const at = this._place(picked.block);
    return at < 0 ? { at, blocks: [picked.block] } : { at, blocks: picked.whole ? [...this.groups[at]] : [picked.block] };
  }

  _chosen() {
    const { picked } = this;
    const chip = picked && this.chips.get(picked.block);
    return picked?.whole ? (chip.parentNode.querySelector("button.paren") ?? chip) : chip;
  }

  _pick(target) {
    const chip = target.closest(".chip");
    if (chip) this.picked = { block: Number(chip.dataset.block), whole: false };
    else this.picked = { block: this.groups[target.dataset.at][0], whole: true };
    this._tools();
  }

  _tools() {
    const chosen = this._members();
    const group = chosen && this.groups[chosen.at];
    const can = [chosen && chosen.at !== 0, chosen?.at >= 0 && (chosen.at < this.groups.length - 1 || group.length > 1), group?.length > 1, chosen?.at >= 0 && chosen.at < this.groups.length - 1];
    this.tools.forEach((tool, at) => (tool.disabled = !can[at]));
    const stops = [...this.list.querySelectorAll("button")]; // one for Tab; arrows reach the others
    for (const stop of stops) stop.tabIndex = stop === (this._chosen() ?? stops[0]) ? 0 : -1;
  }

  _edit(key) {
    const chosen = this._members();
    if (!chosen) return;
    const { groups } = this;
    const { at, blocks } = chosen;
    const group = groups[at];
    const whole = !group || blocks.length === group.length;
    const last = groups.length - 1;
    if (key === "/" && group) {
      const parts = this.session.engine.graph.inside(group);
      this._arrange([...groups.slice(0, at), ...parts, ...groups.slice(at + 1)]);
    } else if (key === "+" && group && at < last) this._arrange(movedTo(groups, groups[at + 1], { into: at }));
    else if (key === "Delete") this._arrange(movedTo(groups, blocks, {}));
    else if (!group) this._arrange(key === "ArrowLeft" ? movedTo(groups, blocks, { gap: groups.length }) : groups);
    else if (!whole) this._arrange(movedTo(groups, blocks, { gap: key === "ArrowLeft" ? at : at + 1 }));
    else if (key === "ArrowLeft" ? at > 0 : at < last) {
      // a bracket changes places with its neighbour; a chip alone goes into it
      const by = key === "ArrowLeft" ? -1 : 1;
      const swapped = [...groups];
      [swapped[at], swapped[at + by]] = [swapped[at + by], swapped[at]];
      this._arrange(this.picked.whole || group.length > 1 ? swapped : movedTo(groups, blocks, { into: at + by }));
    }
  }

  // -- mouse, touch and keys --------------------------------------------------------------------

  _listen() {
    const { list, actions } = this;
    const own = (event) => event.target.closest?.(".chip, .paren");
    const blocksOf = (target) => (target.dataset.block ? [Number(target.dataset.block)] : this.groups[target.dataset.at]);
    list.addEventListener("pointerdown", (event) => {
      const target = own(event);
      if (!target || event.button > 0) return;
      this._pick(target);
      this.dragged = false;
      this.drag = { target, blocks: [...blocksOf(target)], x: event.clientX, y: event.clientY, id: event.pointerId };
    });
    list.addEventListener("pointermove", (event) => this._drag(event));
    list.addEventListener("pointerup", (event) => this._drop(event));
    list.addEventListener("pointercancel", () => this._drop(null));
    list.addEventListener("click", (event) => {
      const target = own(event);
      const at = target ? this._place(blocksOf(target)[0]) : -1;
      if (!this.dragged && at >= 0) actions.go(at + 1);
      else if (!this.dragged && target) this._edit("ArrowLeft");
      this.dragged = false;
    });
    list.addEventListener("focusin", (event) => own(event) && this._pick(own(event)));
    for (const name of ["pointerover", "focusin"])
      list.addEventListener(name, (event) => !this.drag && actions.light(own(event) ? blocksOf(own(event)) : []));
    list.addEventListener("pointerleave", () => actions.light([]));
    list.addEventListener("keydown", (event) => this._key(event));
  }

  _key(event) {
    const sideways = ["ArrowLeft", "ArrowRight"].includes(event.key);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && this.drag) this._drop(null);
    else if (sideways && !event.shiftKey) {
      const all = [...this.list.querySelectorAll("button")];
      all[all.indexOf(event.target) + (event.key === "ArrowLeft" ? -1 : 1)]?.focus();
    } else if (sideways || ["/", "+", "Delete", "Backspace"].includes(event.key))
      this._edit(event.key === "Backspace" ? "Delete" : event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  _drag(event) {
    const { drag } = this;
    if (!drag || event.pointerId !== drag.id) return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.boxes) {
      if (Math.hypot(dx, dy) < SLACK) return;
      this.list.setPointerCapture(drag.id);
      drag.boxes = [...this.list.children].map((item) => item.getBoundingClientRect());
      drag.scroll = globalThis.scrollY + this.list.scrollTop;
      drag.chips = drag.blocks.map((b) => this.chips.get(b));
      for (const chip of drag.chips) chip.classList.add("held");
    }
    const down = globalThis.scrollY + this.list.scrollTop - drag.scroll;
    for (const chip of drag.chips) chip.style.translate = `${dx}px ${dy + down}px`;
    drag.to = this._target(event.clientX, event.clientY + down);
    [...this.list.children].forEach((item, at) => {
      item.classList.toggle("into", drag.to?.into === at);
      item.classList.toggle("ahead-of", drag.to?.gap === at);
      item.classList.toggle("behind", drag.to?.gap === this.groups.length && at === this.groups.length - 1);
    });
  }

  // Where something would be dropped: { into }, { gap }, {} beside all brackets, or null.
  _target(x, y) {
    const { boxes, blocks } = this.drag;
    /** @type {any} */
    let best = null;
    boxes.forEach((box, at) => {
      const away = Math.max(box.left - x, x - box.right, 0) + 3 * Math.max(box.top - y, y - box.bottom, 0);
      if (away <= Math.min(REACH, best?.away ?? REACH)) best = { at, box, away };
    });
    if (!best) return null;
    const { at, box } = best;
    if (at >= this.groups.length) return {};
    const edge = Math.min(14, 0.3 * box.width);
    if (x < box.left + edge) return { gap: at };
    if (x > box.right - edge) return { gap: at + 1 };
    return this.groups[at].every((b) => blocks.includes(b)) ? null : { into: at };
  }

  _drop(event) {
    const { drag } = this;
    this.drag = null;
    if (!drag?.boxes) return;
    this.dragged = Boolean(event); // and no click
    const to = event && drag.to;
    for (const item of this.list.children) item.classList.remove("into", "ahead-of", "behind");
    this.from = this._places();
    for (const chip of drag.chips) {
      chip.style.translate = "";
      chip.classList.remove("held");
    }
    if (!to || !this._arrange(movedTo(this.groups, drag.blocks, to))) this._glide(this.from);
    this.from = null;
  }
}
