// Numbers in the cells of a matrix: whole ones, and fractions of small denominators, as school writes
// them; the digits that a format has not kept are struck out.

import { Labels } from "./labels.mjs";

const BELOW = 999; // denominators that are tried

export function numeral(x) {
  for (let below = 1; below <= BELOW && Number.isFinite(x); below++) {
    const above = Math.round(x * below);
    if (Math.abs(x * below - above) > 1e-9 * Math.max(1, Math.abs(above))) continue;
    const text = `${Math.abs(above)}${below > 1 ? `/${below}` : ""}`;
    return above < 0 ? `−${text}` : text;
  }
  return decimal(x);
}

const decimal = (x) => String(Number(x.toPrecision(3))).replace("-", "−");

// What is exact, and how many of its last letters the format has lost.
function kept(low, high) {
  const [own, text] = [numeral(low), numeral(high)];
  if (own.includes(".") && own === decimal(high)) return { text, struck: 0 }; // no fraction any more, and as near to it as is seen
  let same = 0;
  while (own.length === text.length && own[same] === text[same] && same < text.length) same++;
  return { text, struck: own === text ? 0 : text.length - same };
}

// The labels of a matrix whose cells show their numbers.
export class Numerals extends Labels {
  constructor({ engine, model }) {
    super(engine);
    this.model = model;
  }

  // { rows, columns, at: [{ row, column, text, struck }] } of block (i, j), its zeros left out; a block
  // that is one number shows its zero.
  numbers(i, j) {
    const found = this.model.entries(i, j);
    if (!found) return null;
    const { rows, columns, low, high } = found;
    const at = low.flatMap((own, k) => {
      if (!own && !high[k] && low.length > 1) return [];
      return [{ row: Math.floor(k / columns), column: k % columns, ...kept(own, high[k]) }];
    });
    return { rows, columns, at };
  }

  // The number of a block that is one, as text.
  number(i, j) {
    const found = this.numbers(i, j);
    return found?.rows * found?.columns === 1 ? found.at[0].text : "";
  }
}
