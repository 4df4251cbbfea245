// What an instruction does with the scalars of its blocks, in the order of kkt/tape/emit.py: sums ascend,
// each operation is one of plus, times and over of ``s``.  Scalars are numbers of a format, residues,
// or marks of zeros and ones (counting.mjs).

// All entries of the result; of a symmetric one the upper triangle, mirrored.
function each({ rows, columns, symmetric = false }, entry) {
  const out = new Array(rows * columns).fill(0);
  for (let i = 0; i < rows; i++)
    for (let j = symmetric ? i : 0; j < columns; j++) {
      const value = entry(i, j);
      out[i * columns + j] = value;
      if (symmetric) out[j * columns + i] = value;
    }
  return out;
}

function forwardIn(s, gain, L, n, C, m) {
  for (let j = 0; j < n - 1; j++) {
    const below = [];
    for (let i = j + 1; i < n; i++) if (L[i * n + j] !== 0) below.push(i);
    for (let c = 0; c < m && below.length; c++) {
      const scaled = gain ? C[j * m + c] : s.over(C[j * m + c], L[j * n + j]);
      for (const i of below) C[i * m + c] = s.plus(C[i * m + c], -s.times(L[i * n + j], scaled));
    }
  }
  return C;
}

// A^-1 B of the columns ``rows`` of H (n, 6), in an order that needs no pivoting; B is overwritten.
function gauss(s, H, rows, B, m) {
  const n = rows.length;
  const A = rows.flatMap((_, i) => rows.map((row) => H.values[i * 6 + row]));
  for (let j = 0; j < n; j++)
    for (let i = j + 1; i < n; i++) {
      if (A[i * n + j] === 0) continue;
      const ratio = s.over(A[i * n + j], A[j * n + j]);
      for (let k = j + 1; k < n; k++) A[i * n + k] = s.plus(A[i * n + k], -s.times(ratio, A[j * n + k]));
      for (let k = 0; k < m; k++) B[i * m + k] = s.plus(B[i * m + k], -s.times(ratio, B[j * m + k]));
    }
  for (let j = n - 1; j >= 0; j--)
    for (let k = 0; k < m; k++) {
      for (let i = j + 1; i < n; i++) B[j * m + k] = s.plus(B[j * m + k], -s.times(A[j * n + i], B[i * m + k]));
      B[j * m + k] = s.over(B[j * m + k], A[j * n + j]);
    }
  return B;
}

export const OPERATIONS = {
  eye: (s, i) => each(i, (r, c) => (r === c ? 1 : 0)),
  mirror: (s, i, A) => each(i, (r, c) => A.values[r * i.columns + c]),
  rows: (s, i, A) => A.values.slice(i.info * i.columns, (i.info + i.rows) * i.columns),
  stack: (s, i, ...parts) =>
    parts.flatMap((part, k) => part?.values ?? new Array(i.info[k] * i.columns).fill(0)),

  square(s, i, ...blocks) {
    const out = each(i, () => 0);
    const [sizes, n] = [i.info, i.rows];
    for (let r = 0, top = 0; r < sizes.length; top += sizes[r++])
      for (let c = r, left = top; c < sizes.length; left += sizes[c++]) {
        const block = blocks.shift();
        for (let k = 0; block && k < sizes[r]; k++)
          for (let m = r === c ? k : 0; m < sizes[c]; m++)
            out[(top + k) * n + left + m] = out[(left + m) * n + top + k] = block.values[k * sizes[c] + m];
      }
    return out;
  },

  add: (s, i, A, B) => each(i, (r, c) => s.plus(A.values[r * i.columns + c], B.values[r * i.columns + c])),
  divide: (s, i, A) => A.values.map((x) => s.over(x, s.whole(i.info))), // both triangles

  mul: (s, i, A, B) =>
    each(i, (r, c) => {
      let sum = 0;
      for (let k = 0; k < A.columns; k++) {
        const [x, y] = [A.values[r * A.columns + k], B.values[k * B.columns + c]];
        if (x !== 0 && y !== 0) sum = s.plus(sum, s.times(x, y));
      }
      return sum;
    }),

  // Y1^T D^-1 Y2, one term (y1 y2^T) / d after another.
  inner: (s, i, F, Y1, Y2) =>
    each(i, (r, c) => {
      let sum = 0;
      for (let k = 0; k < F.rows; k++) {
        const [x, y] = [Y1.values[k * i.rows + r], Y2.values[k * i.columns + c]];
        if (x !== 0 && y !== 0) sum = s.plus(sum, s.over(s.times(x, y), F.values[k * F.rows + k]));
      }
      return sum;
    }),

  // L D L^T of the lower triangle: d on the diagonal, below it L by gain, else c = L d.
  factor(s, { rows: n, info: [gain, apart] }, { values }) {
    const A = values.slice();
    for (let k = 0; k < n; k++) {
      for (let j = k + 1; j < n; j++) A[k * n + j] = 0;
      const below = [];
      for (let i = k + 1; i < n; i++) if (A[i * n + k] !== 0) below.push(i);
      const own = apart ? s.apart?.() : null;
      const c = below.map((i) => A[i * n + k]);
      const L = gain ? c.map((x) => s.over(x, A[k * n + k])) : c;
      own?.shared(L);
      below.forEach((row, r) => {
        for (let m = 0; m <= r; m++) {
          const update = gain ? s.times(L[r], c[m]) : s.over(s.times(c[r], c[m]), A[k * n + k]);
          const value = s.plus(A[row * n + below[m]], -update);
          A[row * n + below[m]] = own ? own.of(value) : value;
        }
        A[row * n + k] = L[r];
      });
    }
    return A;
  },

  forward: (s, i, F, C) => forwardIn(s, i.info[0], F.values, i.rows, C.values.slice(), i.columns),

  solve(s, { rows: n, columns: m, info: [gain] }, { values: L }, { values }) {
    const X = forwardIn(s, gain, L, n, values.slice(), m);
    for (let j = n - 1; j >= 0; j--)
      for (let k = j * m; k < (j + 1) * m; k++) {
        if (gain) X[k] = s.over(X[k], L[j * n + j]);
        for (let i = j + 1; i < n; i++)
          if (L[i * n + j] !== 0) X[k] = s.plus(X[k], -s.times(L[i * n + j], X[k + (i - j) * m]));
        if (!gain) X[k] = s.over(X[k], L[j * n + j]);
      }
    return X;
  },

  along(s, { columns: n, info: rows }, H) {
    const solved = gauss(s, H, rows, each({ rows: n, columns: n }, (i, j) => (i === j ? 1 : 0)), n);
    return each({ rows: 6, columns: n }, (i, j) => (rows.includes(i) ? solved[rows.indexOf(i) * n + j] : 0));
  },

  across(s, { columns: m, info: rows }, H) {
    const beside = [0, 1, 2, 3, 4, 5].filter((i) => !rows.includes(i));
    const right = rows.flatMap((_, i) => beside.map((j) => H.values[i * 6 + j]));
    const solved = gauss(s, H, rows, right, m);
    const entry = (i, j) => (rows.includes(i) ? -solved[rows.indexOf(i) * m + j] : Number(beside[j] === i));
    return each({ rows: 6, columns: m }, entry);
  },
};
