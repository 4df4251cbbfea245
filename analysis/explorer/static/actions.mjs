// @ts-nocheck: what it acts on belongs to the page that extends it (explorer.mjs)
// What keys and buttons do to the session, and what is said of it: the explorer without its looks.

import { plural } from "./dom.mjs";
import { answered, members, reported } from "./words.mjs";

export class Actions {
  // What a key or a button does, by its name.
  act(does) {
    const actions = {
      undo: () => this._undo(),
      redo: () => this._redo(),
      step: () => this._forward(),
      play: () => this._play(!this.playing),
      start: () => this.jump(0),
      end: () => this.jump(this.session.length),
      bracket: () => this._bracket(),
      cancel: () => this.session.pending && this._cancel(),
      finish: () => this._finish(),
      help: () => (this.help.showModal(), this.help.scrollTo(0, 0)), // from its beginning
      checkpoint: () => this.checkpoints.focus(),
      matrix: () => this.board.grid.focus(),
      body: () => this._body(),
      larger: () => this.zoom(1),
      smaller: () => this.zoom(-1),
      fold: () => this.fold(this.focused[0] === null ? -1 : this.session.engine.graph.body(this.focused[0])),
      heat: () => this.data.entries && this.controls.heat.click(),
    };
    actions[does]();
  }

  say(text, refused = false) {
    this.status.textContent = text;
    this.status.classList.toggle("refused", refused);
  }

  // Draw, and say something.
  show(text, refused = false) {
    this.draw();
    this.say(text, refused);
  }

  // Draw, and say what came of a pick.
  _report(record) {
    this.show(reported(this.session, record), Boolean(record.refused));
  }

  pick(i, j) {
    this._play(false);
    const limb = this._limbAt(i, j);
    if (!limb) this._report(this.session.pick(i, j));
    else if (limb.apart) this.say(limb.told, true);
    else {
      const [groups, before] = [this.session.limb(i), this.session.engine.fill];
      const record = this.session.model.play(groups);
      if (record?.refused) this._report(record);
      else this.show(`${limb.told} It is eliminated in ${plural(groups.length, "step")}: fill ${this.session.engine.fill - before}.${answered(this.session)}`);
    }
  }

  // What a block of a folded limb is, in words, and whether it is not the limb's own; else null.
  _limbAt(i, j) {
    const limbs = this.look.folded.filter((top) => top === i || top === j);
    if (!limbs.length) return null;
    const { graph } = this.session.engine;
    const named = limbs.map((top) => `the limb of ${graph.called(top)}, ${plural(graph.limb(top).size, "body")}`).join(" and ");
    const apart = i !== j;
    return { apart, told: apart ? `Blocks of ${named}: L unfolds it.` : `One block for ${named}.` };
  }

  // Fold a body and all that hang on it to one block, or unfold the limb that it stands for.
  fold(body) {
    const { graph } = this.session.engine;
    if (graph.plain) return;
    const { folded } = this.look;
    const limb = body < graph.n && body >= 0 ? graph.limb(body) : new Set();
    if (!folded.includes(body) && limb.size < 2) {
      this.say("Point at a block of a body on which others hang.", true);
      return;
    }
    const rest = folded.filter((top) => !limb.has(top));
    this.look.folded = folded.includes(body) ? rest : [...rest, body];
    this.show(folded.includes(body) ? `The limb of ${graph.called(body)} is unfolded.` : this._limbAt(body, body).told);
  }

  _undo() {
    this._play(false);
    const record = this.session.back();
    this.show(record ? `Undone: step ${record.step}, ${members(this.session, record)}.` : "At the start.");
  }

  _redo() {
    const record = this.session.model.redo();
    if (record) this._report(record);
    else this.say("Nothing to redo.");
  }

  _forward() {
    const { session } = this;
    const record = session.forward();
    if (record) this._report(record);
    else if (session.engine.done) this.say("All blocks are eliminated.");
    else this.say("No next step: pick a block, or choose an order.");
    return record && !record.refused;
  }

  jump(step) {
    this._play(false);
    const refused = this.session.jump(step);
    if (refused) this._report(refused);
    else this.show(`Step ${this.session.engine.step} of ${this.session.length}.${answered(this.session)}`);
  }

  _play(on) {
    clearInterval(this.playing);
    const again = () => {
      if (!this._forward()) this._play(false);
    };
    this.playing = on ? setInterval(again, 700) : 0;
    this.transport.draw(this.session, this.playing);
  }

  // What is left of the body in question, as one bracket.
  _body() {
    const [i] = this.focused;
    if (!this._bracketOf(i === null ? i : this.session.engine.graph.body(i)))
      this.say(`Point at a block${this.session.engine.graph.plain ? "" : " of a body"} that is left.`, true);
  }

  _bracketOf(body) {
    const { graph, gone } = this.session.engine;
    const left = graph.own(body).filter((b) => !gone[b]);
    if (left.length) this._report(this.session.eliminate(left));
    return left.length > 0;
  }

  _bracket() {
    if (!this.session.pending) {
      this.session.open();
      this.show("A bracket is open: pick its blocks, then close it.");
      return;
    }
    const record = this.session.close();
    if (record.empty) this.show("The bracket was empty.");
    else this._report(record);
  }

  _cancel() {
    this.session.pending = null;
    this.show("The bracket is given up.");
  }

  _finish() {
    const { session } = this;
    const refused = session.finish();
    const { step, fill } = session.engine;
    if (refused) this._report(refused);
    else this.show(`Finished in ${plural(step, "step")}: fill ${fill}.${answered(session)}`);
  }

  // The strip has another sequence, or it was refused.
  _arranged(refused, changed) {
    this._play(false);
    if (refused) {
      this._report(refused);
      return;
    }
    this.draw(true);
    const told = changed ? `${plural(changed, "bracket")} of this order ${changed === 1 ? "meets" : "meet"} other blocks than before.` : "What was moved commutes: it is the same elimination in another sequence.";
    const known = this.session.seen;
    this.say(`${told}${known ? ` This is ${known.name}.` : ""}`);
  }

  choose(name) {
    this._play(false);
    this.session.choose(name, name === "/split");
    const order = this.session.order(name);
    const steps = order && plural(order.groups.length, "step");
    this.show(order ? `${name}: ${order.what} ${order.source}. ${steps}.` : "Your own order, from the start.");
  }

  // One more order, in step with the first: by its code, and perhaps a name of its own.
  beside(code, called = null) {
    const added = this.boards.add(code, called, {
      removed: (name) => this.show(`${name} is taken away.`),
      swapped: (name) => this.show(`Now ${name} is the order that is edited.`),
    });
    if (!added) return false;
    const { title } = this.boards.sessions.at(-1);
    this.show(`${called ?? title} goes in step beside ${this.session.title}.`);
    return true;
  }

  // A larger matrix, which moves behind its frame, or a smaller one.
  zoom(by) {
    const { look } = this;
    const levels = [1, 1.5, 2, 3, 4, 6, 8];
    const at = levels.indexOf(look.zoom ?? 1) + by;
    if (!levels[at]) return;
    look.zoom = levels[at];
    this.draw();
  }

  // The same steps in another format, or for another frame of an example.
  rebuild(format, frame, text = `Numbers in ${format}.`) {
    for (const session of this.boards.sessions) session.rebuilt(format, frame);
    this.show(text + answered(this.session));
  }

  // Bodies by their names, or numbered from the tip as in the papers.
  named(on) {
    for (const session of this.boards.sessions) {
      session.names = on;
      session.engine.graph.named = on;
    }
    if (this.session.engine.graph.plain) this.show(on ? "Blocks by their names." : "Blocks by numbers.");
    else this.show(on ? "Bodies by their names." : "Bodies numbered from the tip, as in the papers.");
  }

  // Go to a shared order.
  go(code, text = "") {
    const done = this.session.setCode(code);
    const reached = text || `Step ${this.session.engine.step} of ${this.session.title}.`;
    this.show(done ? reached : `The order ${code} does not fit this model.`, !done);
    return done;
  }
}
