// C of Pinocchio's aba for one robot, by CasADi, and functions of it and of its derivatives, which CasADi
// loads again: generate MODEL.txt ABA.c ABA.casadi DERIVATIVES.casadi
#include <pinocchio/autodiff/casadi.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>

using Scalar = casadi::SX;
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

static Vector entries(const Scalar & x)
{
  Vector y(x.size1());
  for (Eigen::Index i = 0; i < y.size(); ++i) y[i] = x(i);
  return y;
}

static Scalar dense(const Matrix & x)
{
  Scalar y = Scalar::zeros(x.rows(), x.cols());
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    for (Eigen::Index j = 0; j < x.cols(); ++j) y(i, j) = x(i, j);
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
  casadi::Function aba("aba", {q, v, u}, {a});
  aba.generate(argv[2]);
  aba.save(argv[3]);
  Matrix dq = Matrix::Zero(model.nv, model.nv), dv = dq, du = dq;
  pinocchio::computeABADerivatives(symbolic, data, entries(q), entries(v), entries(u), dq, dv, du);
  casadi::Function("derivatives", {q, v, u}, {dense(dq), dense(dv), dense(du)}).save(argv[4]);
}
