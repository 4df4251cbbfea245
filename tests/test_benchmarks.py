"""The table of speed: every row's function at a tiny size, with and without peers."""

import json
import subprocess
import sys
from dataclasses import asdict

import numpy as np
import pytest
from helpers import ROOT

from pivotree import kkt, orderings

BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture(autouse=True)
def _modules(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def test_a_ratio_is_paired_and_a_target_is_met_or_missed():
    from rows import Peer, Row, compared

    clock = iter(np.cumsum(np.full(1000, 1.0)))
    peers = {"half": Peer(lambda: None, target=0.5), "none": Peer(None, note="not installed")}
    half, none = compared("work", lambda: None, peers, 3, clock=lambda: next(clock))
    assert half.ratio == 1.0 and half.met is False and half.spread == (1.0, 1.0)
    assert none.ratio is None and none.met is None and none.note == "not installed"
    assert Row("x", 0.97, about=(1.0, 0.05)).met and not Row("x", 0.9, about=(1.0, 0.05)).met
    assert Row("x", float("nan"), about=(1.0, 0.05)).met is False


def test_backward_error_is_that_of_a_perturbed_solution():
    from accuracy import backward_error, distance, joints, refined

    system = kkt.build(kkt.chain(6))
    x = refined(system)
    assert backward_error(system, x) < 1e-19 or np.finfo(np.longdouble).eps > 1e-17
    K = system.matrix.toarray()
    dense = np.linalg.solve(K, system.rhs)
    assert distance(dense, x) < 1e-12
    assert distance(x[joints(system)], kkt.eliminate(system, orderings.get("abm")).qdd) < 1e-12
    wrong = x.copy()
    wrong[3] += 1e-6
    scale = np.abs(K).sum(1).max() * float(np.abs(wrong).max()) + np.abs(system.rhs).max()
    assert backward_error(system, wrong) == pytest.approx(1e-6 * np.abs(K[:, 3]).max() / scale)


def test_the_reference_of_long_chains_is_that_of_balls():
    from exact import Exact
    from long_double import forward_dynamics

    from pivotree.kkt.matrix.configuration import Configuration

    if np.finfo(np.longdouble).eps > 1e-18:
        pytest.skip("a long double is a double here")
    for graph in (kkt.chain(8), kkt.random_tree(12, seed=2, joints="revolute")):
        system = kkt.build(graph)
        q, qd, tau = (graph.graph[key] for key in ("q", "qd", "tau"))
        balls = Exact(system).qdd(Configuration(system.tree, graph).from_coordinates(q), qd, tau)
        exact = np.array([np.longdouble(b.mid().str(30, radius=False)) for b in balls])
        found = forward_dynamics(system.tree, q, qd, tau)
        assert np.abs(found - exact).max() < 1e-17 * np.abs(exact).max()
    with pytest.raises(kkt.ModelError, match="revolute"):
        forward_dynamics(kkt.compile_tree(kkt.star(3, "spherical")), q, qd, tau)


@pytest.mark.product
def test_rows_of_scale_run_at_small_sizes():
    import scale

    rows = [*scale.assembly((20,), 1), *scale.symbolic(20, 1), *scale.solve(20, 1), *scale.traced(5, 1)]
    assert {row.work.partition(",")[0] for row in rows} >= {"assemble (4)", "factor + solve"}
    for row in rows:
        assert row.ours is not None and (row.theirs is not None or row.note or not row.peer)
    solved = [row for row in rows if row.work == "factor + solve, chain 20"]
    assert all(row.error < 1e-15 for row in solved)
    assert all(row.their_error < 1e-12 for row in solved if row.their_error is not None)


def test_solvers_that_are_missing_say_so(monkeypatch):
    from solvers import SOLVERS, Problem, prepared

    for name in ("cvxopt", "cvxopt.cholmod", "cvxopt.umfpack", "cholmod", "pypardiso", "mumps", "qdldl"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    system = kkt.build(kkt.chain(3))
    problem = Problem(system.matrix, system.rhs, kkt.permutation(system))
    notes = {name: prepared(name, problem)[2] for name in SOLVERS}
    found = {name for name, note in notes.items() if note != "not installed"}
    assert found == {"SuperLU, default", "SuperLU, ABM order"}


@pytest.mark.peers
def test_metis_orders_are_pivoted_and_lower_than_leaf_to_root():
    pytest.importorskip("pymetis")
    import dissection

    rows = list(dissection._counted("chain", dissection.chain(60).structure))
    height = [r for r in rows if r.work.startswith("height") and r.peer == "METIS on bodies"]
    assert height[0].ours == 180 and height[0].theirs < 60
    assert any("structurally zero" in row.note for row in rows)
    structure = kkt.build(kkt.random_tree(20, seed=2)).structure
    for plan in (dissection.of_bodies(structure), dissection.of_blocks(structure, True)):
        assert sorted(plan.blocks) == sorted(kkt.leaf_to_root(structure).blocks)
        kkt.symbolic(plan)


@pytest.mark.product
def test_fill_of_the_composite_method_from_arrays_is_that_of_its_order():
    import growth

    structure = growth._chain(7)
    named = kkt.symbolic(kkt.plan(orderings.get("crbm"), structure)).fill_blocks
    assert kkt.symbolic(growth.composite(structure)).fill_blocks == named == 42
    found = list(growth.fill(300))
    curves = {c.name: c for c in found if isinstance(c, growth.Curve)}
    assert curves["CRBM, chain"].cost == [9900, 89700]
    assert all(row.met for row in found if not isinstance(row, growth.Curve))


@pytest.mark.product
def test_a_searched_order_beside_the_classics(monkeypatch):
    import searched

    monkeypatch.setattr(searched, "robots_folder", lambda: ROOT)
    monkeypatch.setattr(searched.kkt, "load", lambda spec, **_: kkt.chain(3))
    monkeypatch.setitem(searched.FIRST, "short", (1, 2, 2))
    rows = list(searched.rows(("short",), 1))
    counted, timed = rows[:4], rows[4:]
    assert {row.peer.partition(",")[0] for row in rows} == {"CRBM", "ABM"} and len(timed) == 2
    assert all(row.ratio <= 1.0 for row in counted) and all(row.error < 1e-12 for row in timed)
    composites = {row.peer: row.theirs for row in counted if row.peer.startswith("CRBM")}
    crbm = [kkt.trace(kkt.build(kkt.chain(3)), "crbm", kind).flops for kind in ("general", "rigid")]
    assert list(composites.values()) == crbm and crbm[0] > crbm[1]


@pytest.mark.soak
def test_memory_grows_with_the_arrays():
    import growth

    growth._allocated(growth.chain, 50)  # compiled code is loaded once, and is not the tree's
    small, large = (growth._allocated(growth.chain, n) for n in (200, 400))
    assert 1.8 < large / small < 2.1
    assert 0 < growth.peak("chain", 50).ours < 8


@pytest.mark.product
def test_one_command_measures_prints_and_keeps(tmp_path):
    table = [sys.executable, str(BENCHMARKS / "table.py"), "--quick"]
    command = [*table, "--only", "traced", "fill", "--results", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    (path,) = tmp_path.glob("quick-traced-fill-*.json")
    document = json.loads(path.read_text())
    assert str(path) in run.stdout and "SuperLU, factor alone" in run.stdout
    assert {row["section"] for row in document["rows"]} == {"traced", "fill"}
    assert document["machine"]["versions"]["numpy"] == np.__version__ and document["curves"]
    refused = subprocess.run([*table, "--page"], capture_output=True, text=True)
    assert refused.returncode == 2 and "takes a whole run" in refused.stderr


def test_a_section_that_fails_leaves_the_others(monkeypatch, tmp_path):
    import table
    from rows import Row

    def broken():
        yield Row("done", 1.0)
        raise ValueError("this and that")

    parts = {"arms": broken, "fill": lambda: iter([Row("counted", 2.0)])}
    monkeypatch.setattr(table, "sections", lambda extent: parts)
    document = table.measured(table.Extent(1, False), ("arms", "fill"), tmp_path / "x.json")
    assert [row["work"] for row in document["rows"]] == ["done", "arms", "counted"]
    assert document["failed"] == ["arms"] and "this and that" in document["rows"][1]["note"]
    assert json.loads((tmp_path / "x.json").read_text()) == document


def test_the_page_is_written_between_its_marks(tmp_path):
    import page
    from machine import machine
    from rows import Row

    spread = {"ratio": 0.5, "spread": (0.4, 0.6), "target": 0.2}
    row = Row("solve", 1e-3, 1e-15, "one", 2e-3, 1e-16, note="all of it", **spread)
    rows = [asdict(row) | {"section": "solve", "met": row.met}]
    document = {"date": "2026-01-01", "rounds": 3, "quick": False, "load": [0.5, 0.7], "rows": rows}
    document["machine"] = machine()
    place = tmp_path / "page.md"
    place.write_text("before\n" + page.RESULT + page.RESULT_END + page.START + "old\n" + page.END + "after\n")
    page.write_page(document, place)
    text = place.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "| solve | 1 ms | one | 2 ms | 0.5 | 0.4 to 0.6 | ≤ 0.2 | no | 1.0e-15 | 1.0e-16 |" in text
    assert "0 of 1 targets are met. Missed: solve beside one (0.5, ≤ 0.2)." in text
    assert "more than 2 times the peer's error" in text
    assert (ROOT / "benchmarks" / "NOTES.md").read_text().count(page.START) == 1
    assert (ROOT / "docs" / "benchmarks.md").read_text().count(page.RESULT) == 1


@pytest.mark.product
def test_digits_of_derivatives_are_printed_by_order(monkeypatch, capsys):
    """And are as large as differences to another order in twice the digits."""
    import derivatives

    arguments = ["chain:3", "--orders", "abm,crbm", "--states", "2"]
    monkeypatch.setattr(sys, "argv", ["derivatives.py", *arguments])
    derivatives.main()
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[:2] for row in rows] == [["| chain:3", "`abm`"], ["| chain:3", "`crbm`"]]
    assert all(0.0 < float(x.strip(" |")) < 1e-4 for row in rows for x in row[2:])
    system = derivatives.systems(kkt.chain(3), 1, stored=True)[0]
    exact = derivatives.proved(system)
    right = kkt.derivatives(system, orderings.get("crbm"), "dd")
    found = kkt.derivatives(system, orderings.get("abm"), "float32")
    off = derivatives.errors(system, "abm", "float32", exact)
    for name, x in zip(derivatives.FIELDS, off, strict=True):
        one, other = (np.array(getattr(y, name), dtype=float) for y in (found, right))
        assert np.abs(one - other).max() / np.abs(other).max() == pytest.approx(x, rel=1e-6)
    counts = derivatives.counted(system, "abm")
    assert counts[0] < min(counts[1:])


# -- GPU ------------------------------------------------------------------------------------------


def test_the_table_of_a_gpu_is_that_of_the_kept_rows():
    (path,) = (BENCHMARKS / "results").glob("gpu-*.jsonl")
    page = (ROOT / "docs" / "machine.md").read_text()
    rows = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    found = {(row["robot"], row["precision"], row["program"]): row for row in rows}
    for robot, precision in {key[:2]: None for key in found}:
        cells = []
        for name in ("cuda, abm", "cuda, gain_abm", "cuda, crbm", "to_jax", "mjx"):
            row = found[robot, precision, name]
            rate = float(f"{row['states_a_second'] / 1e6:.3g}")
            ratio = "" if name == "mjx" else f", {row['ratio']:.2g}"
            cells.append((f"{rate:,.0f}" if rate >= 100 else f"{rate:.1f}") + ratio)
        shown = robot.removeprefix("robot:") if robot.startswith("robot:") else f"`{robot}`"
        assert f"| {shown}, {precision} | {' | '.join(cells)} |" in page
    ran = [row for row in rows if "same_bits" in row]
    assert len(ran) == 36 and all(row["same_bits"] == row["states"] == 1_000_000 for row in ran)
    assert path.name in page


@pytest.mark.peers
def test_without_a_gpu_rows_of_cuda_say_so_and_jax_runs(monkeypatch):
    pytest.importorskip("jax")
    monkeypatch.setitem(sys.modules, "mujoco.mjx", None)
    import gpu

    monkeypatch.setattr(gpu.shutil, "which", lambda name: None)
    rows = list(gpu.rows_of("chain:2", 6, 3, 1, 100.0))
    refused = {row["program"]: row["refused"] for row in rows if "refused" in row}
    assert len(refused) == 7 and "mjx" in refused["mjx"]
    assert refused["cuda, crbm, 128 registers"] == "FileNotFoundError: nvcc is not installed"
    single, double = (row for row in rows if "refused" not in row)
    assert (single["precision"], double["precision"]) == ("float32", "float64")
    assert 1e-9 < single["largest_error"] < 1e-5 and double["largest_error"] < 1e-13
    assert single["states_a_second"] * single["seconds"] == pytest.approx(6)


@pytest.mark.peers
def test_a_point_mass_on_a_fixed_joint_is_in_mujoco_s_model():
    pytest.importorskip("mujoco")
    from simulators import mujoco_forward

    tree = kkt.chain(3)
    kkt.add_body(tree, "sensor", "j3", joint="fixed", mass=0.5, p=(0.1, 0.2, 0.3))
    right = kkt.eliminate(kkt.build(tree), orderings.get("abm")).qdd
    assert mujoco_forward(tree)() == pytest.approx(right, rel=1e-12)


def test_the_readme_tells_the_ratios_to_generated_code():
    """Those of relaxed kernels, each ours / CasADi, for one state and in batches."""
    readme, page = ((ROOT / name).read_text("utf-8") for name in ("README.md", "docs/benchmarks.md"))
    tables = [table for table in page.split("\n\n") if "| CasADi |" in table]
    ranges = []
    for table, first in zip(tables, (2, 1), strict=True):  # one state names the order, too
        rows = [line.strip("| ").split(" | ") for line in table.splitlines() if ", relaxed" in line]
        times = [[float(cell) for cell in row[first : first + 3]] for row in rows]
        assert all(abs(ours / theirs / ratio - 1.0) < 0.02 for theirs, ours, ratio in times)
        ranges.append(f"{min(row[2] for row in times):.1f} to {max(row[2] for row in times):.1f}")
    assert f"take {ranges[0]} of the time of Pinocchio" in readme and f"in batches {ranges[1]}." in readme
