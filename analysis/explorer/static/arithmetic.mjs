// Numbers of a format: one rounding an operation, no fused multiply-add.  A format of at most 25 bits is
// a double that is rounded once more, which is exact for + - * / (Figueroa 1995); residues modulo a
// prime tell ranks whatever the numbers.

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

export const unit = (format) => 2 ** -FORMATS[format].bits;

// Decimal digits that a format has.
export const digitsIn = (format) => -Math.log10(unit(format));

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

// Scalars of a format, each operation rounded.
export function floats(format) {
  const round = rounding(format);
  return {
    whole: round,
    plus: (a, b) => round(a + b),
    times: (a, b) => round(a * b),
    over: (a, b) => round(a / b),
  };
}

const PRIME = 67108859; // below 2^26, so that products are exact in doubles

// Scalars modulo a prime; dividing by 0 gives 0.
export function residues() {
  const modulo = (x) => ((x % PRIME) + PRIME) % PRIME;
  const inverse = (x) => {
    let [power, factor, exponent] = [1, x, PRIME - 2];
    for (; exponent; exponent = Math.floor(exponent / 2)) {
      if (exponent % 2) power = (power * factor) % PRIME;
      factor = (factor * factor) % PRIME;
    }
    return power;
  };
  return {
    whole: modulo,
    plus: (a, b) => modulo(a + b),
    times: (a, b) => modulo(a * b),
    over: (a, b) => modulo(a * inverse(modulo(b))),
  };
}

// Fixed random residues, so that two visits of a page say the same.
export function residueSource(seed = 1983) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return 1 + (Math.floor(state / 64) % (PRIME - 1));
  };
}
