/* 2^20 operations at once: sixteen sums of products, fused, of rows of LANES doubles. */
typedef double Row __attribute__((vector_size(8 * LANES)));

int peak(const double *x, const double *v, const double *u, double *out) {
  Row sum[16], a = (Row){0} + v[0], b = (Row){0} + u[0];
  for (int i = 0; i < 16; i++) sum[i] = (Row){0} + x[0] + i;
  for (int k = 0; k < (1 << 20) / 32 / LANES; k++) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) sum[i] = sum[i] * a + b;
  }
  for (int i = 1; i < 16; i++) sum[0] += sum[i];
  out[0] = sum[0][0];
  return 0;
}
