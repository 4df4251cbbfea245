// Numbers of several states side by side, for C that CasADi generated: g++ -include lanes.h -Dcasadi_real=Lanes
#include <cmath>
#ifdef __AVX512F__
typedef double Row __attribute__((vector_size(64)));
#define SINE _ZGVeN8v_sin
#define COSINE _ZGVeN8v_cos
#else
typedef double Row __attribute__((vector_size(32)));
#define SINE _ZGVdN4v_sin
#define COSINE _ZGVdN4v_cos
#endif
extern "C" Row SINE(Row);
extern "C" Row COSINE(Row);

struct Lanes {
  Row x;
  Lanes() = default;
  Lanes(double y) : x(Row{} + y) {}
  Lanes(Row y) : x(y) {}
};
static inline Lanes operator+(Lanes a, Lanes b) { return a.x + b.x; }
static inline Lanes operator-(Lanes a, Lanes b) { return a.x - b.x; }
static inline Lanes operator*(Lanes a, Lanes b) { return a.x * b.x; }
static inline Lanes operator/(Lanes a, Lanes b) { return a.x / b.x; }
static inline Lanes operator-(Lanes a) { return -a.x; }
static inline Lanes sin(Lanes a) { return SINE(a.x); }
static inline Lanes cos(Lanes a) { return COSINE(a.x); }
