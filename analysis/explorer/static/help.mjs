// Keys, and the page that tells them.

import { button, h, para } from "./dom.mjs";

const KEYS = {
  undo: ["u", "Control+z", ","],
  redo: ["r", "Control+y", "Control+Shift+z"],
  step: ["n", "."],
  play: ["p"],
  start: ["Home"],
  end: ["End"],
  bracket: ["b", "(", ")"],
  cancel: ["Escape"],
  finish: ["f"],
  checkpoint: ["c"],
  body: ["e"],
  matrix: ["m"],
  heat: ["h"],
  fold: ["l"],
  larger: ["]"],
  smaller: ["["],
  help: ["?"],
};

// What a key is for, or null: not while something is typed, or a slider is moved.
export function actionOf({ key, target, ctrlKey, metaKey, altKey, shiftKey }) {
  const typing = target.matches("input[type=text], input[type=number], select, textarea");
  const sliding = target.matches("input[type=range]") && ["Home", "End"].includes(key);
  if (typing || sliding || altKey) return null;
  const plain = key.length === 1 ? key.toLowerCase() : key;
  const pressed = ctrlKey || metaKey ? `Control+${shiftKey ? "Shift+" : ""}${plain}` : plain;
  return Object.keys(KEYS).find((does) => KEYS[does].includes(pressed)) ?? null;
}

const TOLD = [
  ["M", "go to the matrix"],
  ["Arrows", "move from block to block; with Shift along the diagonal"],
  ["Enter, Space", "make the block the next pivot, or put it into the open bracket"],
  ["B, (, )", "open a bracket, close it; Escape gives it up"],
  ["E", "eliminate what is left of the body at the block, as one bracket"],
  ["U, Ctrl+Z", "undo"],
  ["R, Ctrl+Y", "redo"],
  ["N", "next step of the order; P plays it, Home and End jump"],
  ["F", "eliminate what is left, tip to base"],
  ["C", "name a checkpoint"],
  ["H", "digits lost as heat"],
  ["L", "fold the limb that hangs on the body at the block to one block, or unfold it"],
  ["], [", "a larger matrix, a smaller one"],
  ["Shift+Arrows, /, +, Delete", "in the order below the matrix: move the chip or bracket, split it, join it with the next, take it out"],
];

export function helpDialog(plain) {
  const matrix = plain ? "The matrix is symmetric." : "The matrix is equation (4) of Ascher, Pai & Cloutier (1996).";
  const pair = plain ? "" : " Pick an identity block of pdd and f, and both are eliminated through the exact inverse of the pair.";
  const told = plain ? TOLD.filter(([key]) => !["E", "F", "L"].includes(key)) : TOLD;
  const dialog = h(
    "dialog",
    { "aria-label": "Help" },
    h("h2", {}, "Elimination by hand"),
    para("", `${matrix} Pick a block on the diagonal and it is eliminated: every pair of its neighbours is coupled, and what was zero between them is filled in.${pair} What cannot be a pivot is refused, with the reason.`),
    para("", "A bracket holds blocks that are eliminated together: its own block is inverted, then meets its neighbours. In exact numbers brackets change nothing; in a number format they decide which digits survive."),
    para("", "Digits lost in a block are those by which it differs from a run in float64, relative to its largest entry."),
    h("dl", {}, ...told.flatMap(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)])),
    button("Close", "Close help", () => dialog.close()),
  );
  return dialog;
}
