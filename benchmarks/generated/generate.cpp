// C of Pinocchio's aba for one robot, by CasADi: generate MODEL.txt OUT.c
#include <pinocchio/autodiff/casadi.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/aba.hpp>

using Scalar = casadi::SX;
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

static Vector entries(const Scalar & x)
{
  Vector y(x.size1());
  for (Eigen::Index i = 0; i < y.size(); ++i) y[i] = x(i);
  return y;
}

int main(int, char ** argv)
{
  pinocchio::Model model;
  pinocchio::serialization::loadFromText(model, argv[1]);
  pinocchio::ModelTpl<Scalar> symbolic = model.cast<Scalar>();
  pinocchio::DataTpl<Scalar> data(symbolic);
  Scalar q = Scalar::sym("q", model.nq), v = Scalar::sym("v", model.nv), u = Scalar::sym("u", model.nv);
  pinocchio::aba(symbolic, data, entries(q), entries(v), entries(u), pinocchio::Convention::LOCAL);
  Scalar a = Scalar::zeros(model.nv, 1);
  for (int i = 0; i < model.nv; ++i) a(i) = data.ddq[i];
  casadi::Function("aba", {q, v, u}, {a}).generate(argv[2]);
}
