// Blocks in a number format: one rounding an operation, no fused multiply-add, ascending sums.
// A format of at most 25 bits is a double that is rounded once more, which is exact for + - * /
// (Figueroa 1995); residues modulo a prime tell ranks whatever the numbers.

export const FORMATS = {
  float64: { bits: 53, low: -1022, high: 1023 },
  float32: { bits: 24, low: -126, high: 127 },
  p20: { bits: 20, low: -126, high: 127 },
  p16: { bits: 16, low: -126, high: 127 },
  tf32: { bits: 11, low: -126, high: 127 },
  bfloat16: { bits: 8, low: -126, high: 127 },
  float16: { bits: 11, low: -14, high: 15 },
  e5m2: { bits: 3, low: -14, high: 15 },
};

export function unit(format) {
  return 2 ** -FORMATS[format].bits;
}

// The function that rounds a double to a format: to nearest, ties to even, gradual underflow.
export function rounding(format) {
  const { bits, low, high } = FORMATS[format];
  if (bits === 53) return (x) => x;
  if (bits === 24) return Math.fround;
  const largest = (2 - 2 ** (1 - bits)) * 2 ** high;
  const smallest = 2 ** low;
  const tiny = 1.5 * 2 ** (low - bits + 53); // its last place is that of the smallest numbers
  const float = new Float64Array(1);
  const word = new Uint32Array(float.buffer); // little-endian, as every machine with a browser is
  return (x) => {
    const size = Math.abs(x);
    if (!(size >= smallest)) return x + tiny - tiny;
    float[0] = size;
    const exponent = word[1] >>> 20;
    if (exponent + 53 - bits > 2046) return x; // infinite, or not a number
    word[1] = ((exponent + 53 - bits) << 20) | 0x80000;
    word[0] = 0; // the last place of this number is that of the format at x
    const y = x + float[0] - float[0];
    return Math.abs(y) > largest ? Math.sign(x) * Infinity : y;
  };
}

// Rows of numbers that nobody changes once they are made; plain lists, which take least to make.
export class Block {
  constructor(rows, columns, values) {
    this.rows = rows;
    this.columns = columns;
    this.values = values ?? new Array(rows * columns).fill(0);
  }

  get t() {
    const { rows, columns, values } = this;
    if (rows === 1 || columns === 1) return new Block(columns, rows, values);
    const out = new Block(columns, rows);
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < columns; j++) out.values[j * rows + i] = values[i * columns + j];
    return out;
  }

  get mirrored() {
    const { rows, values } = this;
    for (let i = 0; i < rows; i++) for (let j = 0; j < i; j++) values[i * rows + j] = values[j * rows + i];
    return this;
  }
}

export function identity(size) {
  const out = new Block(size, size);
  for (let i = 0; i < size; i++) out.values[i * size + i] = 1;
  return out;
}

// Arithmetic of floats; null stands for a block that is zero.
export function floats(round) {
  return arithmetic(
    (a, b) => round(a + b),
    (a, b) => round(a * b),
    (a, b) => round(a / b),
  );
}

const PRIME = 67108859; // below 2^26, so that products are exact in doubles

// Arithmetic of residues; dividing by 0 gives 0.
export function residues() {
  const inverse = (x) => {
    let [power, factor, exponent] = [1, x, PRIME - 2];
    for (; exponent; exponent = Math.floor(exponent / 2)) {
      if (exponent % 2) power = (power * factor) % PRIME;
      factor = (factor * factor) % PRIME;
    }
    return power;
  };
  const plus = (a, b) => (((a + b) % PRIME) + PRIME) % PRIME;
  const times = (a, b) => (((a * b) % PRIME) + PRIME) % PRIME;
  return arithmetic(plus, times, (a, b) => times(a, inverse(((b % PRIME) + PRIME) % PRIME)));
}

// Fixed random residues, so that two visits of a page say the same.
export function residueSource(seed = 1983) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return 1 + (Math.floor(state / 64) % (PRIME - 1));
  };
}

function arithmetic(plus, times, over) {
  const neg = (A) =>
    A &&
    new Block(
      A.rows,
      A.columns,
      A.values.map((x) => -x),
    );
  const add = (A, B) => {
    if (!A || !B) return A ?? B;
    const out = new Block(A.rows, A.columns);
    for (let i = 0; i < out.values.length; i++) out.values[i] = plus(A.values[i], B.values[i]);
    return out;
  };
  const mul = (A, B) => {
    if (!A || !B) return null;
    const out = new Block(A.rows, B.columns);
    for (let i = 0; i < A.rows; i++)
      for (let j = 0; j < B.columns; j++) {
        let sum = 0;
        for (let k = 0; k < A.columns; k++) {
          const [x, y] = [A.values[i * A.columns + k], B.values[k * B.columns + j]];
          if (x !== 0 && y !== 0) sum = plus(sum, times(x, y));
        }
        out.values[i * B.columns + j] = sum;
      }
    return out;
  };
  // A = L D L^T without pivoting; L below the diagonal, D on it.
  const factor = (A) => {
    const n = A.rows;
    const L = A.values.slice();
    for (let k = 0; k < n; k++)
      for (let i = n - 1; i > k; i--) {
        const c = L[k * n + i]; // upper triangle: what is left of the matrix
        if (c === 0) continue;
        for (let j = i; j < n; j++)
          L[i * n + j] = plus(L[i * n + j], -over(times(c, L[k * n + j]), L[k * n + k]));
        L[i * n + k] = over(c, L[k * n + k]);
      }
    for (let k = 0; k < n; k++) for (let i = k + 1; i < n; i++) if (L[k * n + i] === 0) L[i * n + k] = 0;
    return { n, L, pivots: Array.from({ length: n }, (_, k) => L[k * n + k]) };
  };
  const forward = ({ n, L }, C) => {
    if (!C) return null;
    const out = new Block(n, C.columns, C.values.slice());
    for (let j = 0; j < C.columns; j++)
      for (let i = 1; i < n; i++)
        for (let k = 0; k < i; k++) {
          const at = i * C.columns + j;
          const [l, y] = [L[i * n + k], out.values[k * C.columns + j]];
          if (l !== 0 && y !== 0) out.values[at] = plus(out.values[at], -times(l, y));
        }
    return out;
  };
  const solve = (factored, C) => {
    if (!C) return null;
    const { n, L, pivots } = factored;
    const out = forward(factored, C);
    for (let j = 0; j < C.columns; j++)
      for (let i = n - 1; i >= 0; i--) {
        const at = i * C.columns + j;
        out.values[at] = over(out.values[at], pivots[i]);
        for (let k = i + 1; k < n; k++) {
          const [l, x] = [L[k * n + i], out.values[k * C.columns + j]];
          if (l !== 0 && x !== 0) out.values[at] = plus(out.values[at], -times(l, x));
        }
      }
    return out;
  };
  // Y1^T D^-1 Y2 for two results of forward: (c c^T) / d for one row.
  const inner = ({ n, pivots }, Y1, Y2) => {
    if (!Y1 || !Y2) return null;
    const out = new Block(Y1.columns, Y2.columns);
    for (let i = 0; i < Y1.columns; i++)
      for (let j = 0; j < Y2.columns; j++) {
        let sum = 0;
        for (let k = 0; k < n; k++) {
          const [x, y] = [Y1.values[k * Y1.columns + i], Y2.values[k * Y2.columns + j]];
          if (x !== 0 && y !== 0) sum = plus(sum, over(times(x, y), pivots[k]));
        }
        out.values[i * Y2.columns + j] = sum;
      }
    return out;
  };
  const sub = (A, B) => {
    if (!A || !B) return A ?? neg(B);
    const out = new Block(A.rows, A.columns);
    for (let i = 0; i < out.values.length; i++) out.values[i] = plus(A.values[i], -B.values[i]);
    return out;
  };
  return { neg, add, sub, mul, factor, forward, solve, inner };
}
