// The matrix of the page, and those of other orders that go in step beside it.

import { button, h } from "./dom.mjs";
import { Board } from "./board.mjs";
import { Session } from "./session.mjs";
import { Strip } from "./strip.mjs";

const GAP = 24; // between two matrices, in CSS pixels
const HEADING = 44; // above each matrix, which should fit into the window with the order below it
const BRACKETS = 90;

export class Boards {
  look; main;

  constructor(main, look) {
    Object.assign(this, { main, look, mirrors: [], width: 0 });
    this.node = h("div", { class: "boards" }, main.node);
  }

  get sessions() {
    return [this.main.session, ...this.mirrors.map((board) => board.session)];
  }

  // One more order; ``removed`` is called once it has been taken away again.
  add(name, removed) {
    const { data, format, frame } = this.main.session;
    const session = new Session(data, format, frame);
    session.names = this.main.session.names;
    session.choose(name);
    const board = new Board(session, this.look, null, new Strip());
    const remove = () => {
      board.node.remove();
      this.mirrors = this.mirrors.filter((other) => other !== board);
      removed();
    };
    board.heading.after(button("×", `Take ${name} away`, remove, { class: "small" }));
    this.mirrors.push(board);
    this.node.append(board.node);
  }

  draw() {
    const { main, mirrors, node } = this;
    node.classList.toggle("more", mirrors.length > 0);
    this.width = node.clientWidth;
    const narrow = this.width < 620;
    const across = narrow ? 1 : Math.min(mirrors.length + 1, 2);
    const room = (this.width - GAP * (across - 1)) / across;
    const top = node.getBoundingClientRect().top + (globalThis.scrollY || 0);
    const high = Math.max(420, (globalThis.innerHeight || 900) - Math.max(top, 100) - HEADING - BRACKETS);
    const side = Math.floor(Math.max(240, Math.min(720, room, narrow ? room : high)));
    main.draw(side);
    const { step } = main.session.engine;
    for (const board of mirrors) {
      board.session.jump(Math.min(step, board.session.length));
      board.draw(side);
    }
  }
}
