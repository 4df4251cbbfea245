// The matrix of the page, and those of other orders that go in step beside it.

import { button, h, replaced } from "./dom.mjs";
import { Board } from "./board.mjs";
import { difference, partsAt } from "./difference.mjs";
import { Session } from "./session.mjs";
import { Strip } from "./strip.mjs";

const GAP = 24; // between two matrices, in CSS pixels
const HEADING = 44; // above each matrix, which should fit into the window with the order below it
const BRACKETS = 90;

export class Boards {
  look; main;

  constructor(main, look) {
    Object.assign(this, { main, look, mirrors: [], width: 0 });
    this.told = h("div", { class: "differences" }); // above the matrices, where it is seen at once
    this.node = h("div", { class: "boards" }, this.told, main.node);
  }

  get sessions() {
    return [this.main.session, ...this.mirrors.map((board) => board.session)];
  }

  // One more order, by its code and perhaps a name of its own; false where it does not fit.
  // actions: { removed(name), swapped(name) }, once it was taken away, or is the one that is edited
  add(code, called, { removed, swapped }) {
    const { data, format, frame } = this.main.session;
    const session = new Session(data, format, frame);
    session.names = this.main.session.names;
    session.restart();
    if (session.order(code)) session.choose(code);
    else if (!session.setCode(code)) return false;
    const board = new Board(session, this.look, null, new Strip());
    board.called = called;
    board.told = h("p", { class: "difference" });
    const name = () => board.called ?? session.title;
    const swap = () => {
      const [mine, theirs] = [this.main.session.code, session.code];
      this.main.session.setCode(theirs);
      session.setCode(mine);
      board.called = null;
      swapped(this.main.session.title);
    };
    board.heading.after(
      button("⇄", `Change places with ${name()}, to edit it`, swap, { class: "small" }),
      button("×", `Take ${name()} away`, () => (this.remove(board), removed(name())), { class: "small" }),
    );
    this.told.append(board.told);
    this.mirrors.push(board);
    this.node.append(board.node);
    return true;
  }

  remove(board) {
    board.node.remove();
    board.told.remove();
    this.mirrors = this.mirrors.filter((other) => other !== board);
  }

  draw() {
    const { main, mirrors, node } = this;
    node.classList.toggle("more", mirrors.length > 0);
    this.width = node.clientWidth;
    const narrow = (globalThis.innerWidth || 900) < 700; // as in the stylesheet
    const across = narrow ? 1 : Math.min(mirrors.length + 1, 2);
    const room = (this.width - GAP * (across - 1)) / across;
    const top = (node.closest(".main") ?? node).getBoundingClientRect().top + (globalThis.scrollY || 0);
    const high = Math.max(420, (globalThis.innerHeight || 900) - Math.max(top, 100) - HEADING - BRACKETS);
    const side = Math.floor(Math.max(240, Math.min(720, room, narrow ? room : high)));
    main.draw(side, mirrors.length ? partsAt(main.session, mirrors[0].session) : -1);
    const { step } = main.session.engine;
    for (const board of mirrors) {
      board.session.jump(Math.min(step, board.session.length));
      board.draw(side, partsAt(main.session, board.session));
      replaced(board.told, ...difference(main.session, board.session, board.called ?? board.session.title));
    }
  }
}
