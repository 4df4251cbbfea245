// C of Pinocchio's aba for one robot, by CasADi: generate MODEL.txt OUT.c
// With a third argument, of the three matrices of computeABADerivatives, the inverse of the inertia last.
#include <pinocchio/autodiff/casadi.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>

using Scalar = casadi::SX;
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

static Vector entries(const Scalar & x)
{
  Vector y(x.size1());
  for (Eigen::Index i = 0; i < y.size(); ++i) y[i] = x(i);
  return y;
}

template <class Matrix>
static Scalar whole(const Matrix & x)
{
  Scalar y = Scalar::zeros(x.rows(), x.cols());
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    for (Eigen::Index j = 0; j < x.cols(); ++j) y(i, j) = x(i, j);
  return y;
}

int main(int argc, char ** argv)
{
  pinocchio::Model model;
  pinocchio::serialization::loadFromText(model, argv[1]);
  pinocchio::ModelTpl<Scalar> symbolic = model.cast<Scalar>();
  pinocchio::DataTpl<Scalar> data(symbolic);
  Scalar q = Scalar::sym("q", model.nq), v = Scalar::sym("v", model.nv), u = Scalar::sym("u", model.nv);
  if (argc > 3) {
    pinocchio::computeABADerivatives(symbolic, data, entries(q), entries(v), entries(u));
    Scalar byq = whole(data.ddq_dq), byv = whole(data.ddq_dv), byu = whole(data.Minv);
    casadi::Function("aba", {q, v, u}, {byq, byv, byu}).generate(argv[2]);
    return 0;
  }
  pinocchio::aba(symbolic, data, entries(q), entries(v), entries(u), pinocchio::Convention::LOCAL);
  Scalar a = Scalar::zeros(model.nv, 1);
  for (int i = 0; i < model.nv; ++i) a(i) = data.ddq[i];
  casadi::Function("aba", {q, v, u}, {a}).generate(argv[2]);
}
