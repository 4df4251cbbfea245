// Microseconds of a call of Pinocchio's aba in C++, the median of rounds: native MODEL.txt STATE
// STATE holds one state's q, v and u, one after another.
#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <vector>

int main(int, char ** argv)
{
  pinocchio::Model model;
  pinocchio::serialization::loadFromText(model, argv[1]);
  pinocchio::Data data(model);
  Eigen::VectorXd state(model.nq + 2 * model.nv);
  std::ifstream(argv[2]).read(reinterpret_cast<char *>(state.data()), 8 * state.size());
  const Eigen::VectorXd q = state.head(model.nq), v = state.segment(model.nq, model.nv), u = state.tail(model.nv);
  std::vector<double> took;
  for (int round = 0; round < 15; ++round) {
    const clock_t start = clock();
    for (int call = 0; call < 4000; ++call) pinocchio::aba(model, data, q, v, u, pinocchio::Convention::LOCAL);
    took.push_back(1e6 * (clock() - start) / CLOCKS_PER_SEC / 4000);
  }
  std::sort(took.begin(), took.end());
  std::printf("%.4f", took[7]);
}
