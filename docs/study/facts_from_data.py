"""Statements that the data of the family decide, and those about peers and blame."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from fact import UNIT, Fact, error
from pictures import CONSTRUCTED, read

from pivotree import analysis, kkt, orderings

PEERS = Path(__file__).resolve().parents[2] / "tests" / "peers"


def kappas() -> Fact:
    """How often the problem itself is at fault."""
    rows = [r for r in read() if r["order"] == "abm" and not r["refined"]]
    small = {}
    for family in dict.fromkeys(r["family"] for r in rows):
        mine = [r["kappa"] for r in rows if r["family"] == family]
        small[family] = (float(np.median(mine)), float(np.mean(np.array(mine) <= 120.0)))
    share = np.mean([r["kappa"] <= 120.0 for r in rows])
    worst = min(small, key=lambda family: small[family][1])
    return Fact(
        "kappa is small, 5 to 120, for nearly every robot, chain and example: what is lost beyond "
        "kappa u is the order's fault.",
        f"at most 120 on {100 * share:.0f} % of {len(rows)} instances; fewest among {worst} "
        f"({100 * small[worst][1]:.0f} %), where planar arms in turned frames are sensitive to "
        "their data",
        "yes" if share > 0.8 else "partly",
        {k: list(v) for k, v in small.items()},
    )


def one_direction() -> Fact:
    """What projection and alignment repair, and what they leave."""
    rows = [r for r in read() if not r["refined"] and r["ratio"] >= 1e4]
    worst: dict[str, dict[str, float]] = {}
    for family in ("example 3", "light wrists", "heavy tip"):
        worst[family] = {
            order: max(r["lost"] for r in rows if (r["family"], r["order"]) == (family, order))
            for order in ("abm", "projected_abm", "abm, aligned", "square_root_abm")
        }
    told = "; ".join(
        f"{family}: " + ", ".join(f"{order} {x:.1f}" for order, x in found.items())
        for family, found in worst.items()
    )
    left = max(worst["light wrists"]["projected_abm"], worst["light wrists"]["abm, aligned"])
    return Fact(
        "E-projection and alignment of frames repair only the one direction that is lost first.",
        f"worst digits lost, mass ratios from 1e4 to 1e9: {told}",
        "yes" if worst["example 3"]["projected_abm"] < 1 and left > 2 else "partly",
        worst,
    )


def dual_absorption() -> Fact:
    rows = [r for r in read() if not r["refined"] and r["family"].startswith("random")]
    lost = {
        order: float(np.median([r["lost"] for r in rows if r["order"] == order]))
        for order in ("virtual_work", "base_to_tip", "abm", "square_root_abm")
    }
    return Fact(
        "Virtual work and base-to-tip orders fail by the dual absorption, 1/m_heavy in 1/m_light.",
        "median digits lost on the random trees: "
        + ", ".join(f"{order} {x:.1f}" for order, x in lost.items()),
        "yes" if min(lost["virtual_work"], lost["base_to_tip"]) > lost["abm"] + 0.5 else "partly",
        lost,
    )


def square_root() -> Fact:
    rows = [r for r in read() if r["order"] == "square_root_abm" and not r["refined"]]
    inside = [r["lost"] for r in rows if r["family"] in CONSTRUCTED and r["ratio"] <= 1e4]
    beyond = [r["lost"] for r in rows if r["family"] in CONSTRUCTED and r["ratio"] > 1e4]
    trees = [r["lost"] for r in rows if r["family"].startswith("random")]
    cost = {}
    for name in ("abm", "square_root_abm"):
        system = kkt.build(kkt.chain(100))
        cost[name] = kkt.trace(system, orderings.get(name)).flops / 100
    data = {"to 1e4": max(inside), "to 1e9": max(beyond), "random": max(trees), **cost}
    return Fact(
        "Square-root ABM is within half a digit of kappa u to mass ratios of 1e4, 2 digits worst "
        "to 1e9, at about twice ABM's operations.",
        f"worst {max(inside):.1f} digits to 1e4, {max(beyond):.1f} to 1e9, {max(trees):.1f} on "
        f"random trees; {cost['square_root_abm']:.0f} operations a body against {cost['abm']:.0f}",
        "yes" if max(inside) <= 0.5 and max(beyond) <= 2.0 else "partly",
        data,
    )


def blamed() -> Fact:
    """Blame summed, over the true error."""
    ratios = {}
    for spec in ("chain:30", "chain:100", "humanoid", "example1", "two_link:r=0.002"):
        system = kkt.build(kkt.from_spec(spec))
        for order in ("abm", "crbm", "virtual_work"):
            ratios[f"{order} on {spec}"] = analysis.blame(system, order, "float32").ratio
    off = max(abs(r - 1.0) if r is not None else np.inf for r in ratios.values())
    return Fact(
        "Adjoints times local rounding errors sum to the true error of qdd, to better than 1 %.",
        f"off by at most {off:.0e} of it, CRBM's 14 % on a chain of 100 included: with derivatives "
        "halfway between run and shadow the sum is an identity",
        "yes" if off < 0.01 else "no",
        ratios,
    )


def chains_and_peers() -> Fact:
    """Long chains, and MuJoCo where it is installed."""
    data: dict[str, Any] = {}
    hundred = kkt.build(kkt.chain(100))
    for name in ("crbm", "abm"):
        data[f"{name}, 100 links, float32"] = error(hundred, orderings.get(name))
    thousand = kkt.build(kkt.chain(1000))
    data["abm, 1000 links, float64"] = error(thousand, orderings.get("abm"), "float64")
    told = [f"{key}: {x:.1e}" for key, x in data.items()]
    sys.path.insert(0, str(PEERS))
    try:
        import mujoco_peer
        from random_states import stored_state

        model = mujoco_peer.model_of(kkt.chain(1000))
        qdd = mujoco_peer.Peer(thousand, model).qdd(stored_state(thousand))
        exact = kkt.certify(thousand, 25, rounded_to="float64")
        data["MuJoCo, 1000 links"] = exact.error(qdd)
        told.append(f"MuJoCo, 1000 links: {data['MuJoCo, 1000 links']:.1e}")
    except ImportError:
        told.append("MuJoCo is not installed")
    finally:
        sys.path.remove(str(PEERS))
    holds = data["crbm, 100 links, float32"] > 0.1 and data["abm, 100 links, float32"] < 4 * UNIT
    return Fact(
        "A 100-link chain in float32: CRBM errs by 14 %, ABM by 3e-7; 1000 links in float64: "
        "MuJoCo 1.4e-6, equation (4) in ABM order 3.5e-15.",
        "; ".join(told),
        "yes" if holds else "partly",
        data,
    )


FACTS = (chains_and_peers, kappas, one_direction, dual_absorption, square_root, blamed)
