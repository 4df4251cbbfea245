"""Methods under their authors' names: recursions written apart, held against orders' pivots."""

import networkx as nx
import numpy as np
import pytest
from helpers import Mechanics, every_joint, hat
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

from pivotree import analysis, kkt, orderings


def system_of(tree, seed, loops=()):
    draw = np.random.default_rng(seed)
    N = kkt.compile_tree(tree).N
    q, qd, tau = draw.uniform(-1, 1, N), draw.normal(size=N), draw.normal(size=N)
    return kkt.build(tree, q, qd, tau, loops=loops), Mechanics(tree, q, qd)


def pivots(system, order):
    """The block D_k of every joint, put together from the pivots of its L D L*: determinants."""
    found = {}
    for step in kkt.eliminate(system, orderings.get(order)).steps:
        for block in step.blocks:
            if block.kind == "qdd":
                found[block.body] = np.asarray(step.pivots, float)
    return found


def ldl(D):
    """Pivots of D without exchange, in its own order."""
    D, found = D.copy(), []
    for j in range(len(D)):
        found.append(D[j, j])
        D[j + 1 :, j + 1 :] -= np.outer(D[j + 1 :, j], D[j, j + 1 :]) / D[j, j]
    return found


class World:
    """Every body in the world's directions at the world's origin: other frames than ours."""

    def __init__(self, here):
        self.here, self.names = here, here.names
        self.S, self.I = {}, {}
        for b in here.names:
            R, p = here.world(b)
            X = np.block([[R, np.zeros((3, 3))], [hat(p) @ R, R]])  # motions, to the origin
            back = np.linalg.inv(X)
            self.S[b] = X @ here.S[b]
            self.I[b] = back.T @ here.M[b] @ back

    def tip_to_base(self):
        return list(nx.dfs_postorder_nodes(self.here.tree))


def held(seed, joints):
    """A tree whose last body is held at a point in two directions; forces on it as wrenches at the origin."""
    tree = kkt.from_spec(f"random_tree:n=7,seed={seed},joints={joints}")
    tip, at, normals = list(tree.nodes)[-1], np.array([0.2, 0.1, 0.3]), np.eye(3)[:2]
    loop = kkt.contact(tip, at, normals[0], normals[1:], name="hand")
    system, here = system_of(tree, seed, [loop])
    R, p = here.world(tip)
    return system, World(here), tip, np.hstack([np.cross(p + R @ at, normals), normals])


def least(H, S):
    """Gauss's function 1/2 a* H a, a = base + S x, at its least over x: D, and the rest."""
    D = S.T @ H @ S
    K = H @ S @ np.linalg.pinv(D)
    return D, H - K @ S.T @ H, K


# -- Vereshchagin 1974 ----------------------------------------------------------------------------


def test_vereshchagins_dynamic_programming_has_the_pivots_of_abm():
    """Any tree, any joints: least constraint of a subtree as a function of its base's motion."""
    for seed in range(2):
        system, here = system_of(every_joint(), seed)
        world = World(here)
        H = dict(world.I)
        mine = pivots(system, "vereshchagin")
        for b in world.tip_to_base():
            D, rest, _ = least(H[b], world.S[b])
            if D.size:
                assert mine[b] == pytest.approx(ldl(D), rel=1e-9)
            if here.parent[b] is not None:
                H[here.parent[b]] = H[here.parent[b]] + rest


def test_vereshchagins_constraint_is_a_row_eliminated_last():
    """His matrix of the end effector, carried to the base, is the pivot of lambda."""
    for seed in range(2):
        system, world, tip, wrench = held(seed, "revolute+spherical")
        H, E = dict(world.I), {b: np.zeros((6, 2)) for b in world.names}
        E[tip] = wrench.T
        L = np.zeros((2, 2))
        for b in world.tip_to_base():
            S = world.S[b]
            D, rest, K = least(H[b], S)
            L += E[b].T @ S @ np.linalg.solve(D, S.T @ E[b])
            up = world.here.parent[b]
            if up is not None:
                H[up] = H[up] + rest
                E[up] = E[up] + E[b] - K @ S.T @ E[b]
        steps = kkt.eliminate(system, orderings.get("vereshchagin")).steps
        last = next(s for s in steps if s.blocks[0].kind == "lam")
        assert np.abs(last.pivots) == pytest.approx(np.abs(ldl(L)), rel=1e-8)


# -- Armstrong 1979 -------------------------------------------------------------------------------


def test_armstrongs_three_by_three_matrices_are_those_of_abm():
    """Joints of three freedoms turning; torque and force by 3-vectors, without spatial algebra.

    With o_k the joint and omega' the turning, the body's force at the joint is M a + coupling:
    turning is eliminated by T_k (his inverse), and M_k a is left to the parent, moved by the arm.
    """
    for seed in range(2):
        tree = kkt.from_spec(f"random_tree:n=8,seed={seed},joints=spherical")
        system, here = system_of(tree, seed)
        mine = pivots(system, "armstrong")
        order = World(here).tip_to_base()
        left = {}
        for b in order:
            data = tree.nodes[b]
            m, d = float(data["mass"]), np.asarray(data["com"], float)
            J = np.asarray(data["inertia"], float)
            T = J + m * hat(d).T @ hat(d)  # torque by turning
            C = m * hat(d)  # torque by acceleration of the joint, and back
            F = m * np.eye(3)  # force by acceleration of the joint
            for c in order:
                if here.parent[c] == b:
                    R, arm = here.pose[c]
                    Mc = R @ left[c] @ R.T
                    T = T + hat(arm).T @ Mc @ hat(arm)
                    C = C + hat(arm) @ Mc
                    F = F + Mc
            assert mine[b] == pytest.approx(ldl(T), rel=1e-9)
            left[b] = F - C.T @ np.linalg.solve(T, C)  # symmetric 3 x 3, all that is handed on


# -- Brandl, Johanni & Otter 1986 -----------------------------------------------------------------


def test_brandls_joints_of_any_freedoms_are_those_of_abm():
    """Their recursion with N_k x N_k matrices, frames turned by rotations of their own."""
    for seed in range(2):
        system, here = system_of(every_joint(), seed)
        turns = {b: Rotation.random(random_state=seed * 50 + i).as_matrix() for i, b in enumerate(here.names)}
        spin = {b: block_diag(Q, Q) for b, Q in turns.items()}
        mine = pivots(system, "brandl_johanni_otter")
        A = {b: spin[b] @ here.M[b] @ spin[b].T for b in here.names}
        for b in World(here).tip_to_base():
            S = spin[b] @ here.S[b]
            D, rest, _ = least(A[b], S)
            if D.size:
                assert mine[b] == pytest.approx(ldl(D), rel=1e-9)
            up = here.parent[b]
            if up is not None:
                Phi = spin[up] @ here.Phi[b] @ spin[b].T
                A[up] = A[up] + Phi @ rest @ Phi.T


# -- Baraff 1996 ----------------------------------------------------------------------------------


def test_baraffs_maximal_coordinates_are_those_of_lagrange():
    """His matrix, bodies' motions and joints' forces without any rates, eliminated leaf to root.

    A body's pivot is its mass and what its children's joints put onto it; that of an auxiliary
    constraint is what all bodies and joints leave of it.
    """
    for seed in range(2):
        system, world, tip, wrench = held(seed, "revolute+spherical+prismatic")
        A, rows = dict(world.I), []
        for b in world.tip_to_base():
            across = np.linalg.svd(world.S[b].T)[2][world.S[b].shape[1] :]  # C S = 0
            bound = np.linalg.solve(across @ np.linalg.solve(A[b], across.T), across)
            up = world.here.parent[b]
            if up is not None:
                A[up] = A[up] + across.T @ bound
            row = {b: across} | ({} if up is None else {up: -across})
            rows.append(np.hstack([row.get(x, np.zeros_like(across)) for x in world.names]))
        last = np.hstack([wrench * (x == tip) for x in world.names])
        M, J = block_diag(*(world.I[b] for b in world.names)), np.concatenate(rows)
        H = np.block([[M, -J.T], [-J, np.zeros((len(J), len(J)))]])
        aside = np.hstack([last, np.zeros((len(last), len(J)))])
        L = aside @ np.linalg.solve(H, aside.T)
        found = {}
        for step in kkt.eliminate(system, orderings.get("baraff")).steps:
            for block in step.blocks:
                found[block.kind, block.body] = np.prod(np.float64(step.pivots))
        for b in world.names:
            assert abs(found["pdd", b]) == pytest.approx(np.linalg.det(A[b]), rel=1e-8)
        assert abs(found["lam", "hand"]) == pytest.approx(np.linalg.det(L), rel=1e-8)


# -- Walker & Orin 1982 ---------------------------------------------------------------------------


def test_walker_and_orins_method_3_beside_composites_written_apart():
    """Columns by the composite's force on the joint, brought down; pivots of crbm from them."""
    for seed in range(2):
        tree = kkt.from_spec(f"random_tree:n=7,seed={seed},joints=revolute+prismatic+universal+fixed")
        system, here = system_of(tree, seed)
        world = World(here)
        composite = dict(world.I)
        M = np.zeros((len(system.state.tau),) * 2)
        offset = system.tree.offset
        for b in world.tip_to_base():
            k = system.structure.index[b]
            force, up = composite[b] @ world.S[b], b
            while up is not None:
                i = system.structure.index[up]
                part = world.S[up].T @ force
                M[offset[i] : offset[i + 1], offset[k] : offset[k + 1]] = part
                M[offset[k] : offset[k + 1], offset[i] : offset[i + 1]] = part.T
                up = here.parent[up]
            if here.parent[b] is not None:
                composite[here.parent[b]] = composite[here.parent[b]] + composite[b]
        assert kkt.joint_space_inertia(system, orderings.get("walker_orin_3")) == pytest.approx(M)
        assert pytest.approx(M) == analysis.inertia.columns(system).M


@pytest.mark.product
def test_columns_of_inverse_dynamics_solve_any_tree():
    for seed in range(2):
        system, _ = system_of(every_joint(), seed)
        exact = kkt.certify(system, 16)
        assert exact.error(analysis.inertia.solve(system)) <= 1e-11
        single = np.asarray(analysis.inertia.solve(system, "float32"), float)
        assert 1e-9 < exact.error(single) <= 1e-2


# -- names ----------------------------------------------------------------------------------------


def test_aliases_are_found_and_told():
    for name, alias in orderings.ALIASES.items():
        assert orderings.get(name) is orderings.get(alias.order)
        assert name not in orderings.ORDERS
        assert not alias.differs.endswith(".")
    with pytest.raises(kkt.OrderError, match="vereshchagin"):
        orderings.get("vereschagin")
    for name in ("walker_orin_1", "walker_orin_4"):
        with pytest.raises(kkt.OrderError, match="no order of pivots") as caught:
            orderings.get(name)
        told = str(caught.value).partition("it is ")[2]
        system = kkt.build(kkt.default_state(kkt.chain(3)))
        found = eval(told, {"analysis": analysis, "system": system})
        qdd = getattr(found, "x", found)
        assert kkt.certify(system, 16).error(qdd) <= 1e-12
