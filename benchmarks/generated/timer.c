/* Microseconds of one call, the median of rounds, and what it gives:
   timer LIBRARY FUNCTION COORDINATES FREEDOMS STATE LANES RESULTS
   FUNCTION is CasADi's "aba" or "derivatives", "ours", or "peak"; STATE holds one state's q, v and u, one
   after another, and each number is given LANES times.  RESULTS is 1, of qdd, or 3, of its derivatives. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 3, CALLS = 64 };
typedef int (*Casadi)(const double **, double **, long long *, double *, int);
typedef int (*Ours)(const double *, const double *, const double *, double *);
typedef int (*Derived)(const double *, const double *, const double *, double *, double *, double *);

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  if (argc != 8) return 2;
  void *library = dlopen(argv[1], RTLD_NOW);
  void *function = library ? dlsym(library, argv[2]) : NULL;
  FILE *file = fopen(argv[5], "rb");
  int casadi = strcmp(argv[2], "ours") && strcmp(argv[2], "peak"), lanes = atoi(argv[6]);
  int n = lanes * atoi(argv[3]), N = lanes * atoi(argv[4]), results = atoi(argv[7]);
  int each = results > 1 ? N * atoi(argv[4]) : N;
  double *x = aligned_alloc(64, (sizeof(double) * (n + 2 * N + results * each) + 63) / 64 * 64), took[ROUNDS];
  double *w = aligned_alloc(64, 64 << 20);
  long long *iw = malloc(1 << 20);
  if (!function || !file) return 1;
  for (int i = 0; i < n + 2 * N; i++)
    if (i % lanes) x[i] = x[i - 1];
    else if (fread(x + i, 8, 1, file) != 1) return 1;
  const double *given[3] = {x, x + n, x + n + N};
  double *to = x + n + 2 * N, *found[3] = {to, to + each, to + 2 * each};
  for (int r = 0; r < ROUNDS; r++) {
    long calls = 0;
    clock_t start = clock();
    do {
      for (int i = 0; i < CALLS; i++)
        if (casadi) ((Casadi)function)(given, found, iw, w, 0);
        else if (results == 1) ((Ours)function)(given[0], given[1], given[2], to);
        else ((Derived)function)(given[0], given[1], given[2], to, found[1], found[2]);
      calls += CALLS;
    } while (clock() - start < CLOCKS_PER_SEC / 50);
    took[r] = 1e6 * (clock() - start) / CLOCKS_PER_SEC / calls;
  }
  qsort(took, ROUNDS, sizeof(double), compare);
  printf("%.5f", took[ROUNDS / 2]);
  for (int i = 0; i < results * each; i += lanes) printf(" %.17g", to[i]);
}
