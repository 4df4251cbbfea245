"""Statements about roundoff in forward dynamics, each measured: facts.json.

Run ``python docs/study/facts.py`` after measure.py (five minutes).  A statement is a claim that was
made before; what stands beside it is what this project measures.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import facts_from_data
import families
import mpmath
import numpy as np
from fact import FORMAT, UNIT, Fact, backward, error
from rich.console import Console
from rich.progress import track

from pivotree import kkt, orderings
from pivotree.analysis.comparison import lost_by_order
from pivotree.kkt.solution.conditioning import conditioning

HERE = Path(__file__).resolve().parent


# -- cancelled bits -------------------------------------------------------------------------------


def cancelled_bits() -> Fact:
    seen = {}
    for spec in ("chain:30", "chain:100", "humanoid"):
        system = kkt.build(kkt.from_spec(spec))
        exact = kkt.certify(system, 25, rounded_to=FORMAT)
        for name in ("crbm", "virtual_work", "bad_abm", "abm"):
            result = kkt.eliminate(system, orderings.get(name), FORMAT)
            bits = max(step.cancelled_bits or 0 for step in result.steps)
            seen[f"{name} on {spec}"] = (bits, exact.error(result.qdd))
    bits = [b for b, _ in seen.values()]
    errors = [e for _, e in seen.values()]
    return Fact(
        "Cancelled bits alone predict nothing: 22 to 23 bits for good and bad orders alike.",
        f"{min(bits)} to {max(bits)} bits for errors from {min(errors):.0e} to {max(errors):.0e}",
        "yes" if max(bits) - min(bits) <= 4 and max(errors) > 1e4 * min(errors) else "partly",
        {k: list(v) for k, v in seen.items()},
    )


# -- rank exhaustion ------------------------------------------------------------------------------


def diagonal(system: kkt.System, order: str, format: str) -> list[float]:
    """The 1 x 1 pivots D_k, tip to base."""
    result = kkt.eliminate(system, orderings.get(order), format)
    return [float(step.pivots[-1]) for step in result.steps]


def under_payload(kind: str, seed: int, links: int = 9, ratio: float = 1e8) -> kkt.System:
    """An arm of light links, in turned frames, under a heavy body at its tip."""
    draw = np.random.default_rng(seed)
    axes = [families.Z if kind == "planar" else families.direction(draw) for _ in range(links + 1)]
    reach = [0.0 if kind == "concentric" else 0.1] * links
    return kkt.build(families.arm([1.0] * links + [ratio], axes, reach, draw, frames=True))


def first_off(system: kkt.System) -> int:
    """The first joint, from the tip, whose D_k ABM gets wrong by more than 1 %; 0 if none."""
    exact = np.array(diagonal(system, "abm", "mp:40"))
    off = np.abs(np.array(diagonal(system, "abm", FORMAT)) - exact) / exact
    return int(np.flatnonzero(off > 1e-2)[0]) + 1 if (off > 1e-2).any() else 0


def rank_exhaustion() -> Fact:
    data: dict[str, Any] = {}
    first: dict[str, list[int]] = {}
    for kind in ("planar", "concentric", "generic"):
        systems = [under_payload(kind, seed) for seed in range(8)]
        first[kind] = [first_off(system) for system in systems]
        data[kind] = {"exact": diagonal(systems[0], "abm", "mp:40")} | {
            order: diagonal(systems[0], order, FORMAT)
            for order in ("abm", "projected_abm", "square_root_abm")
        }
    first["example 3, case 2"] = [first_off(kkt.build(kkt.example3(ratio, 2))) for ratio in (1e7, 1e8, 1e9)]
    expected = {"example 3, case 2": 2, "planar": 4, "concentric": 4, "generic": 7}
    seen = {k: sorted(set(v)) for k, v in first.items()}
    return Fact(
        "A heavy body's inertia is used up once the joints since it span its motions: the 2nd "
        "joint of the tilted examples, the 4th for planar or concentric axes, the 7th for generic.",
        "D_k is first off by more than 1 % at joint "
        + ", ".join(f"{' or '.join(map(str, seen[k]))} ({k})" for k in expected),
        "yes" if all(seen[k] == [j] for k, j in expected.items()) else "partly",
        data | {"first": first},
    )


# -- what one lost direction costs ----------------------------------------------------------------


def random_directions(count: int = 500, ratio: float = 1e8) -> Fact:
    """Example 3 over random axis directions: who keeps five digits."""
    draw = np.random.default_rng(5)
    names = ("abm", "modified_abm", "projected_abm", "square_root_abm")
    tapes: dict[Any, Any] = {}
    kept = dict.fromkeys(names, 0)
    for _ in range(count):
        S = np.concatenate([np.zeros(3), families.direction(draw)])[:, None]
        tree = kkt.new_tree("example 3", (0.0, 0.0, 0.0))
        for body, parent, mass in ((2, None, 1.0), (1, 2, ratio)):
            kkt.add_body(tree, body, parent, mass=mass, inertia=mass * np.eye(3), joint="general", S=S)
        tree.graph.update(q=np.zeros(2), qd=np.zeros(2), tau=np.array([9.81, 981.0]))
        system = kkt.build(tree)
        for name in names:
            key = (name, int(np.abs(S[3:]).argmax()))  # the row that the basis leaves out
            tape = tapes.setdefault(key, kkt.trace(system, orderings.get(name)))
            kept[name] += error(system, tape) < 1e-5
    share = {name: 100.0 * k / count for name, k in kept.items()}
    return Fact(
        "Over random axis directions of Example 3 equation (11) keeps five digits in about 2 % "
        "of cases (45 degrees is luck), the projection E in all.",
        ", ".join(f"{name} {x:.1f} %" for name, x in share.items()),
        "yes" if share["projected_abm"] == 100.0 and share["modified_abm"] < 10.0 else "no",
        share,
    )


# -- the dual absorption --------------------------------------------------------------------------


def gravity_of_virtual_work() -> Fact:
    """Virtual work on Example 1 with gravity perpendicular to the base link, and not."""
    rms = {}
    for name, turn in (("perpendicular", 0.0), ("30 degrees off", np.radians(30))):
        off = []
        for q1 in np.linspace(0.0, 2 * np.pi, 40, endpoint=False):
            tree = kkt.example1(q1)
            c, s = np.cos(turn), np.sin(turn)
            tree.graph["gravity"] = np.array([9.81 * s, -9.81 * c, 0.0])
            off.append(error(kkt.build(tree), orderings.get("virtual_work")))
        rms[name] = float(np.sqrt(np.mean(np.square(off))))
    ratio = rms["30 degrees off"] / rms["perpendicular"]
    return Fact(
        "Virtual work's good figures on Example 1 hold only with gravity perpendicular to the base link.",
        ", ".join(f"rms {x:.1e} ({name})" for name, x in rms.items()),
        "yes" if ratio > 30 else "no",
        rms,
    )


# -- all sequences of a small chain ---------------------------------------------------------------


def sequences(bodies: list[Any]) -> list[tuple[str, list]]:
    """Body orders x what happens to each qdd: bracketed, at once, or at the end."""
    found = []
    for order in itertools.permutations(bodies):
        for fate in itertools.product("bol", repeat=len(bodies)):  # bracket, once, last
            groups: list = []
            late = []
            for body, f in zip(order, fate, strict=True):
                if f == "b":
                    groups.append([("pdd", body), ("qdd", body), ("f", body)])
                    continue
                groups.append([("pdd", body), ("f", body)])
                (groups if f == "o" else late).append([("qdd", body)])
            found.append((f"{order} {''.join(fate)}", groups + late))
    return found


def every_sequence(ratio: float = 1e6) -> Fact:
    """Worst digits lost over all mass patterns of a 4-body chain, for every sequence."""
    lost: dict[str, list[float]] = {}
    gaps: list[float] = []
    patterns = [p for p in itertools.product((1.0, ratio), repeat=4) if len(set(p)) == 2]
    tapes: dict[str, Any] = {}
    for pattern in track(patterns, "sequences", console=Console(stderr=True)):
        draw = np.random.default_rng(4)
        axes = [families.direction(draw) for _ in range(4)]
        system = kkt.build(families.arm(list(pattern), axes, [0.0] * 3, draw, frames=True))
        kappa = conditioning(system).kappa
        exact = kkt.certify(system, 20, rounded_to=FORMAT)
        here = {}
        for name, groups in sequences(list(system.tree.names)):
            if name not in tapes:
                tapes[name] = kkt.trace(system, kkt.PivotSequence(groups, name="sequence"))
            result = kkt.eliminate(system, tapes[name], FORMAT, records=False)
            off = None if result.failed_at else exact.error(result.qdd)
            here[name] = lost_by_order(off, kappa, UNIT) or 0.0
        for name, x in here.items():
            lost.setdefault(name, []).append(x)
        abm = f"{tuple(reversed(system.tree.names))} bbbb"
        gaps.append(here[abm] - min(here.values()))
    worst = {name: max(x) for name, x in lost.items()}
    stable = sum(x < 1.0 for x in worst.values())
    near = sum(gap < 1.0 for gap in gaps)
    return Fact(
        "No pivot sequence or bracketing of a 4-body chain is stable for every mass pattern; "
        "leaf-to-root ABM is best or near best nearly always.",
        f"concentric axes, ratio {ratio:.0e}: of {len(worst)} sequences {stable} lose less than a "
        f"digit on all {len(patterns)} mass patterns; the best loses {min(worst.values()):.1f} at "
        f"worst; ABM is within a digit of the best in {near} of {len(patterns)}",
        "yes" if stable == 0 and near >= len(patterns) - 2 else "partly",
        {"gaps of abm": gaps, "sequences": len(worst), "stable": stable},
    )


# -- refinement -----------------------------------------------------------------------------------


def refinement() -> Fact:
    data = {}
    for spec in ("chain:30", "chain:50", "chain:100", "chain:200"):
        system = kkt.build(kkt.from_spec(spec))
        tape = kkt.trace(system, orderings.get("crbm"))
        data[spec] = [error(system, tape, refine=k) for k in (0, 1, 2, 4)]
    for r in (1e-4, 1e-6, 1e-8):  # base link r times as long and heavy as the tip
        for name in ("abm", "square_root_abm"):
            off = []
            for q1 in np.linspace(0.1, 6.2, 12):
                system = kkt.build(kkt.two_link(r), q=(0.0, q1))
                tape = kkt.trace(system, orderings.get(name))
                off.append([error(system, tape, refine=k) for k in (0, 1)])
            data[f"{name}, two_link:r={r:g}"] = list(np.max(off, axis=0))
    short = max(data[s][1] for s in ("chain:30", "chain:50"))
    return Fact(
        "One refinement step in the same float32, its residual from inverse dynamics, brings CRBM "
        "to about 1 u on 30 to 50 links; it stalls on long chains, and can harm.",
        "; ".join(f"{k}: " + ", ".join(_told(x) for x in v) for k, v in data.items()),
        "yes" if short < 8 * UNIT and data["chain:200"][1] > 1e-3 else "partly",
        {k: [x if np.isfinite(x) else None for x in v] for k, v in data.items()},
    )


def _told(off: float) -> str:
    return f"{off:.1e}" if np.isfinite(off) else "no answer"


# -- a predictor ----------------------------------------------------------------------------------


def predictor() -> Fact:
    """u max_k (JSIM_kk / D_k) against CRBM's error."""
    inside = count = 0
    pairs = []
    for instance in families.everything():
        if instance.system.tree.n > 60 or (instance.system.tree.dof > 1).any():
            continue
        system = instance.system
        tape = kkt.trace(system, orderings.get("crbm"))
        off = error(system, tape)
        if not 0 < off < 1:
            continue
        # D_k of CRBM are the pivots of its joint-space inertia, in the order of elimination
        result = kkt.eliminate(system, tape, "float64")
        D = {s.blocks[0].body: float(s.pivots[0]) for s in result.steps if s.blocks[0].kind == "qdd"}
        inertia = np.diag(kkt.joint_space_inertia(system, tape))
        own = dict(
            zip(
                [b for b, d in zip(system.tree.names, system.tree.dof, strict=True) if d],
                inertia,
                strict=True,
            )
        )
        guess = UNIT * max(own[b] / D[b] for b in D)
        pairs.append((guess, off))
        count += 1
        inside += 0.1 <= guess / off <= 10.0
    share = inside / max(count, 1)
    return Fact(
        "u max_k JSIM_kk / D_k gives CRBM's float32 error within a factor 10 in 90 % of cases.",
        f"{100 * share:.0f} % of {count}",
        "yes" if share >= 0.85 else "partly",
        {"pairs": pairs},
    )


# -- parallel orders ------------------------------------------------------------------------------


def nested_dissection() -> Fact:
    data: dict[str, Any] = {}
    for spec in ("humanoid", "chain:100"):
        structure = kkt.build(kkt.from_spec(spec)).structure
        data[spec] = {
            name: kkt.symbolic(kkt.plan(orderings.get(name), structure)).height
            for name in ("abm", "divide_and_conquer")
        }
    system = kkt.build(kkt.chain(31))
    exact = kkt.certify(system, 25, rounded_to=FORMAT)
    for name in ("abm", "divide_and_conquer"):
        result = kkt.eliminate(system, orderings.get(name), FORMAT, records=False)
        data[f"{name} on chain:31"] = (result.flops, exact.error(result.qdd), backward(system, result))
    abm, nd = data["abm on chain:31"], data["divide_and_conquer on chain:31"]
    return Fact(
        "Nested dissection is logarithmically deep, and pays with 10 to 100 times the backward "
        "error and 3.5 times the work at n = 31.",
        "height in pivots "
        + ", ".join(
            f"{data[s]['divide_and_conquer']} instead of {data[s]['abm']} ({s})"
            for s in ("humanoid", "chain:100")
        )
        + f"; on chain:31 "
        f"{nd[0] / abm[0]:.1f} times the operations, {nd[1] / abm[1]:.0f} times the error, "
        f"{nd[2] / abm[2]:.0f} times the backward error",
        "yes" if 3 <= nd[2] / abm[2] <= 300 else "partly",
        data,
    )


# -- balls ----------------------------------------------------------------------------------------


def balls() -> Fact:
    """Bits that ball arithmetic loses along a chain, and its speed beside mpmath."""
    data: dict[str, Any] = {}
    for n in (50, 100, 200, 400):
        system = kkt.build(kkt.chain(n))
        tape = kkt.trace(system, orderings.get("abm"))
        certified = kkt.certify(system, 50, order=tape)
        proved = min(float(x.rel_accuracy_bits()) for x in certified.qdd)
        data[f"bits a body, chain:{n}"] = (certified.bits - proved) / n
        if n == 100:
            start = time.perf_counter()
            kkt.certify(system, 50, order=tape)
            middle = time.perf_counter()
            kkt.eliminate(system, tape, "mp:50", records=False)
            data["seconds, balls"] = middle - start
            data["mpmath over balls"] = (time.perf_counter() - middle) / (middle - start)
    bits = [x for key, x in data.items() if key.startswith("bits")]
    return Fact(
        "Naive balls lose about 4 bits a body; 50 digits of 100 bodies take 0.2 s, in mpmath 60 "
        "to 130 times as long.",
        f"{min(bits):.1f} to {max(bits):.1f} bits a body on chains of 50 to 400; 50 digits of "
        f"chain:100 in {data['seconds, balls']:.2f} s (assembly and residual check included), "
        f"mpmath {data['mpmath over balls']:.0f} times as long "
        f"(its backend: {mpmath.libmp.BACKEND})",
        "yes" if data["mpmath over balls"] > 30 else "partly",
        data,
    )


FACTS: tuple[Callable[[], Fact], ...] = (
    cancelled_bits,
    rank_exhaustion,
    random_directions,
    gravity_of_virtual_work,
    every_sequence,
    refinement,
    predictor,
    nested_dissection,
    balls,
)


def main(names: list[str]) -> None:
    """Measure the facts of these names, all of them where none is given."""
    path = HERE / "facts.json"
    known = {f["name"]: f for f in json.loads(path.read_text(encoding="utf-8"))} if names else {}
    every = (*FACTS, *facts_from_data.FACTS)
    for fact in every:
        if names and fact.__name__ not in names:
            continue
        result = fact()
        print(f"{result.holds:7} {result.claim}\n        {result.measured}", file=sys.stderr)
        known[fact.__name__] = {"name": fact.__name__, **result._asdict()}
    found = [known[fact.__name__] for fact in every if fact.__name__ in known]
    beside = HERE / "facts.new"
    beside.write_text(json.dumps(found, indent=1, default=float) + "\n", encoding="utf-8")
    beside.replace(path)


if __name__ == "__main__":
    main(sys.argv[1:])
