"""What the explorer's page shows, as one JSON document ``pivotree-explorer/1``.

The page eliminates by itself, on structure and with numbers.  What only the engine knows is in the
document: certified answers, the registered orders with their measured errors and their culprits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import pairwise, product, repeat
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from pivotree import orderings
from pivotree.kkt import (
    CertificationError,
    FormatError,
    Matrix,
    ModelError,
    OrderError,
    PivotreeError,
    SingularError,
    SizeError,
    Structure,
    System,
    add_body,
    build,
    certify,
    eliminate,
    new_tree,
    plan,
    symbolic,
    trace,
)
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.base.errors import require_once
from pivotree.kkt.matrix.entries import UNIT
from pivotree.kkt.matrix.system import require_system
from pivotree.kkt.model.examples import example2, example3
from pivotree.kkt.model.gallery import chain
from pivotree.kkt.order.sequence import TEN, Order, Rules, as_orders
from pivotree.kkt.solution.matrix import tape_of
from pivotree.kkt.tape.inputs import pivot_rows
from pivotree.kkt.tape.tape import Tape

from .. import listing
from ..comparison.comparison import usual_of_matrices
from ..comparison.row import digits_of, marked
from ..listing.listing import groups_of
from ..listing.matrices import SAID
from ..rounding.blame import blame
from ..symbols import tex_letters, told_letters
from .forms import BODIES, Forms
from .matrices import TOLD, blocks_of, entries_of_matrix

TILTS = (0.0, 15.0, 30.0, 45.0, 60.0, 75.0, 90.0)  # [degrees]
RATIOS = tuple(10.0**k for k in range(10))
WITHIN = ("float64", "float32", "bfloat16")  # formats whose range holds all frames


def frames_of(system: System, progress: Callable[[str], None]) -> dict[str, Any]:
    """Frames for two sliders, mass after mass and angle after angle: what differs from the entries given.

    Examples 2 and 3 have their own ratios and tilts, of H itself.  Of any other tree the body nearest a tip
    that turns about an axis has its mass multiplied and its joint turned on, in fewer steps where there are
    many freedoms.  With loops the mass alone changes: at another angle they would open.
    """
    example = system.name in ("example2", "example3") and system.tree.names == (2, 1)
    order = system.structure.order.tolist()
    turning = [k for k in order if system.tree.joint[k] == "revolute"]
    body = (turning or order)[0]
    every = 1 if example else min(1 + len(system.state.q) // 6, 4)
    turns = example or (turning and not system.loops)
    ratios, tilts = RATIOS[::every], TILTS[::every] if turns else TILTS[:1]
    given, frames = entries_of(system), []
    for ratio, tilt in product(ratios, tilts):
        progress(f"ratio {ratio:.0e}, tilt {tilt:.0f} degrees")
        other = build(example3(m1=ratio, angle=tilt)) if example else _changed(system, body, ratio, tilt)
        pairs = ((letter, enumerate(rows)) for letter, rows in entries_of(other).items() if letter != "masks")
        new = {letter: {k: row for k, row in rows if row != given[letter][k]} for letter, rows in pairs}
        frames.append({"entries": new, "exact": certified(other, trace(other, orderings.get("abm")), WITHIN)})
    called = text_of(system.structure.names[body])
    names = ["Mass ratio", "Tilt"] if example else [f"Mass of {called} ×", f"Angle of {called} +"]
    return {"names": names, "own": example, "ratio": list(ratios), "tilt": list(tilts), "frames": frames}


def _changed(system: System, body: int, ratio: float, tilt: float) -> System:
    """The same robot, one body's mass multiplied, and its joint turned on by a tilt [degrees]."""
    tree, state = system.tree, system.state
    factor = np.where(np.arange(tree.n) == body, ratio, 1.0)
    tree = replace(tree, mass=tree.mass * factor, inertia=tree.inertia * factor[:, None, None])
    q = state.q.copy()
    q[tree.freedoms_of(body)] += np.deg2rad(tilt)
    return build(tree, q, state.qd, state.tau, state.wrench, loops=system.loops)


DIGITS = 30  # proved, of the answer that the page's numbers are held against
BEYOND = 16  # bits of the certified answer after a format's last one
# that the page can compute in
FORMATS = ("float64", "float32", "p20", "p16", "tf32", "bfloat16", "float16", "e5m2")


def entries_of(system: System) -> dict[str, Any]:
    """Letter -> a flat list of each body's block, row by row; masks 0, 1 (always one) or 2.

    ``pose`` has R, row by row, and p: the page forms Phi = [[R, p~ R], [0, R]] to the same bits.
    G has one for each body of each loop, gamma and compliance one for each loop.
    """
    e, pattern, ties = system.entries, system.pattern, system.structure.ties
    own = _slices(system.tree.dof.tolist())
    sides = _slices([tie.rows for tie in ties for _ in tie.bodies])
    loops = _slices([tie.rows for tie in ties])
    geared = own if e.A.size else []

    def of(numbers: NDArray[Any], parts: list[slice], square: bool = False) -> list[NDArray[Any]]:
        return [np.diag(numbers[rows]) if square else numbers[rows] for rows in parts]

    blocks: dict[str, Any] = {
        "A": of(e.A, geared, square=True),
        "M": e.M,
        "H": of(e.S, own),
        "pose": [_flat(R) + _flat(p) for R, p in zip(system.state.R, system.state.p, strict=True)],
        "a": e.a,
        "b": e.b,
        "tau": of(e.tau, own),
        "G": of(e.G, sides),
        "gamma": of(e.gamma, loops),
        "compliance": of(e.compliance, loops, square=True),
    }
    masks: dict[str, tuple[Iterable[Any], Iterable[Any]]] = {  # what is not always zero, what is one
        "G": (of(pattern.G, sides), of(pattern.G_one, sides)),
        "compliance": (of(pattern.compliance, loops, square=True), repeat(False)),
        "A": (of(pattern.A, geared, square=True), repeat(False)),
        "M": (pattern.M, repeat(False)),
        "H": (of(pattern.S, own), of(pattern.S_one, own)),
        "Phi": (pattern.Phi, pattern.Phi_one),
    }
    told: dict[str, list[Any]] = {
        letter: [_mask(*pair) for pair in zip(*pairs, strict=False)] for letter, pairs in masks.items()
    }
    told["rows"] = [list(pivot_rows(H.T)) if len(H) else [] for H in blocks["H"]]  # that are not zero
    numbers = {letter: [_flat(x) for x in block] for letter, block in blocks.items() if len(block)}
    return numbers | {"masks": {letter: codes for letter, codes in told.items() if codes}}


def _slices(sizes: list[int]) -> list[slice]:
    """Where parts of these sizes stand, one after another."""
    ends = np.cumsum([0, *sizes]).tolist()
    return [slice(start, end) for start, end in pairwise(ends)]


def certified(
    system: System | Matrix,
    tape: Tape,
    formats: Sequence[str] = FORMATS,
    proofs: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Format -> qdd certified for the data rounded to it, kept among ``proofs``; or why there is none.

    To ``BEYOND`` bits more than the format has, of the size that errors are relative to.  One double
    holds them for a format that is shorter; float64 takes the sum of two.
    """
    result: dict[str, Any] = {}
    rows = np.concatenate(system.rows) if isinstance(system, Matrix) else slice(None)  # block by block
    for name in formats:
        chosen = get_format(name)
        try:
            exact = certify(system, DIGITS, rounded_to=chosen, order=tape)
        except (CertificationError, FormatError) as error:
            result[name] = {"why": str(error)}
            continue
        if proofs is not None:
            proofs[name] = exact
        high = -exact.differences(np.zeros(len(exact.qdd)))
        step = float(np.ldexp(chosen.unit, np.frexp(exact.size)[1] - BEYOND))
        result[name] = {"size": exact.size}
        if chosen.unit**2 < UNIT:
            result[name] |= {
                "high": _flat(high[rows]),
                "low": _flat(step * np.rint(-exact.differences(high)[rows] / step)),
            }
        else:
            result[name]["high"] = _flat(step * np.rint(high[rows] / step))
    return result


def _flat(x: NDArray[Any]) -> list[float]:
    return [float(value) if value else 0.0 for value in np.ravel(x)]


def _mask(free: NDArray[Any], one: NDArray[Any] | bool) -> str:
    return "".join(map(str, np.where(one, 1, np.where(free, 2, 0)).ravel()))


SCHEMA = "pivotree-explorer/1"
WHOLE = 150  # bodies whose matrix is drawn block by block, with numbers
MEASURED = 40  # bodies up to which every registered order is measured
LISTED = 200_000  # operations up to which an order is told as loops
FEW = ("abm", "crbm", "bad_abm", "virtual_work", "divide_and_conquer", "minimum_degree")
BLAMED = "float32"
USUAL = ("float64", "float32", "bfloat16", "float16")  # formats measured for every order
MOST_FILL = 200_000  # blocks that an order of a large tree may fill to be offered

Progress = Callable[[str], None]


def explorer_data(
    system: System | Matrix,
    model: str | None = None,
    orders: Sequence[str | Callable[..., Any]] | None = None,
    formats: Sequence[str] | None = USUAL,
    *,
    progress: Progress = lambda step: None,
    story: bool = True,
) -> dict[str, Any]:
    """The document of a system or a matrix; ``orders`` None are the registered ones that suit its size.

    ``story``: whether the scenes come with it, where the model is drawn block by block.

    ``formats`` are those whose errors are measured, of those that the page computes in; where it is None,
    orders are told by their groups alone.  Raises OrderError for an unknown order, FormatError for
    another format, SizeError beyond ``WHOLE`` blocks.

    >>> from pivotree.analysis.explorer import explorer_data
    >>> data = explorer_data(pt.build(pt.chain(3)), "chain:3", ["abm", "crbm"], story=False)
    >>> [(order["name"], order["fill"], order["flops"]) for order in data["orders"]]
    [('abm', 2, 456), ('crbm', 6, 279)]
    """
    for name in formats or ():
        if get_format(name).name not in FORMATS:
            raise FormatError(
                f"format {name!r}", "is none that the page computes in", f"use {', '.join(FORMATS)}"
            )
    if formats:
        require_once("format", [get_format(name).name for name in formats])
    n, whole, told, entries = _drawn(system)
    functions = as_orders(_suitable(system) if orders is None else orders)
    require_once("order", [function.name for function in functions])
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "model": model or system.name,
        "bodies": n,
        "dof": int(system.structure.dof.sum()),
        "structures": {"whole": whole},
        "told": told,
        "orders": [],
        "notes": [],
    }
    proof, forms, proofs = None, None, dict[str, Any]()
    if n <= WHOLE:
        progress("certified answer")
        document["entries"] = entries
        proof = _certify(system, functions, document, orders is not None, proofs)
        if n <= BODIES and isinstance(system, System) and formats is not None:
            with suppress(ModelError, SizeError):
                letters = Forms(system)
                forms, document["forms"] = cache(letters.of), letters.texts
        if story and not isinstance(system, Matrix):
            document["frames"] = frames_of(system, progress)
            progress("the scenes")
            document["story"] = _story()

    @cache
    def reference(name: str) -> Any:
        return proofs.get(name) or certify(system, DIGITS, rounded_to=get_format(name), order=proof)

    for function in functions:
        progress(function.name)
        entry = _order(system, function, document["structures"])
        if entry is None:
            continue
        if proof is not None and formats is not None:
            progress(f"{function.name}: its errors")
            entry |= _measured(system, function, formats, reference, document["model"])
        if forms and "flops" in entry:
            entry["forms"] = forms(tuple(pivot.blocks for pivot in _traced(system, function).program.pivots))
        document["orders"].append(entry)
    return document


def _drawn(system: System | Matrix) -> tuple[int, dict[str, Any], dict[str, str], dict[str, Any]]:
    """How many blocks stand for joints, their graph, what letters mean, and the entries of a small one.

    Raises SizeError and LoopError for what is too large to be drawn.
    """
    if isinstance(system, Matrix):
        if (n := system.structure.n) > WHOLE:
            raise SizeError(
                system.name,
                f"has {n:,} blocks, and the page draws {WHOLE}",
                "give pt.matrix larger blocks, or use pivotree figure spy",
            )
        return n, blocks_of(system), TOLD, entries_of_matrix(system)
    require_system(system)
    if (n := system.tree.n) > WHOLE:  # shown by densities, and a subtree alone has no loops
        system.structure.require_tree(f"the explorer of more than {WHOLE} bodies")
    entries = entries_of(system) if n <= WHOLE else {}
    return n, structure_of(system.structure), told_letters(), entries


def _certify(
    system: System | Matrix, functions: list[Order], document: Any, asked: bool, proofs: dict[str, Any]
) -> Tape | None:
    """Adds the certified answer; returns its tape, ABM's of a robot, of a matrix the first that has one.

    Notes tell of orders that cannot go on.  Raises OrderError for one of a matrix that was asked for.
    """
    matrix, proof, certain = isinstance(system, Matrix), None, False
    for function in functions if matrix else [orderings.get("abm")]:
        try:
            tape = _traced(system, function)
            if not certain:
                proof = tape
                document["exact"] = certified(system, tape, proofs=proofs)
                certain = any("why" not in found for found in document["exact"].values())
        except (CertificationError, OrderError, SingularError, SizeError) as error:
            if matrix and asked:
                raise
            document["notes"].append(f"{'' if matrix else 'No certified answer: '}{error}")
    return proof


def _traced(system: System | Matrix, order: Any) -> Tape:
    return tape_of(system, order) if isinstance(system, Matrix) else trace(system, order)


@cache
def _story() -> dict[str, Any]:
    """What the scenes show, whatever the model: three sliders on a line, as numbers and as rigid
    bodies; the two of Example 2; and what thirty links take."""
    known = ("abm", "crbm")
    rigid, two = (
        carried(explorer_data(build(tree), name, known, None, story=False))
        for name, tree in (
            ("three sliders", sliders((2.0, 3.0, 5.0), (17.0, 11.0, 5.0))),
            ("example2:m1=1e8", example2(1e8)),
        )
    )
    arm = build(chain(30))
    counts = {name: trace(arm, orderings.get(name)).flops for name in known}
    return {"line": along(rigid), "rigid": rigid, "digits": along(two), "thirty": counts}


def algorithm_of(system: System | Matrix, order: Any) -> dict[str, str]:
    """An order told as loops, in the letters of the page: as text, and as an article in LaTeX."""
    told = listing.of(system, order) if isinstance(system, Matrix) else listing.of(system, order, "ascher")
    return {style: listing.render(told, style) for style in ("text", "latex")}


def _suitable(system: System | Matrix) -> list[str]:
    """Registered orders, those that place multipliers where there are some."""
    if isinstance(system, Matrix):
        return usual_of_matrices(system)
    known = orderings.names(loops=bool(system.loops))
    few = (*FEW, *orderings.LOOPS) if system.loops else FEW
    return known if system.tree.n <= MEASURED else [name for name in few if name in known]


def structure_of(structure: Structure) -> dict[str, Any]:
    """Tree and freedoms, bodies by their place; ``order`` runs from tip to base, letters are TeX's."""
    result: dict[str, Any] = {
        "names": [text_of(name) for name in structure.names],
        "parent": structure.parent.tolist(),
        "dof": structure.dof.tolist(),
        "order": structure.order.tolist(),
        "letters": tex_letters(),
    }
    if structure.carriers:
        result["carriers"] = [list(pair) for pair in structure.carriers.items()]
    if structure.divided:
        result["copies"] = structure.copy_of.tolist()
    if (structure.pieces > 1).any():
        result["pieces"] = structure.pieces.tolist()
    if structure.armature.any():
        result["armature"] = structure.armature.astype(int).tolist()
    if structure.ties:
        result["ties"] = [
            {
                "name": text_of(tie.name),
                "bodies": list(map(int, tie.bodies)),
                "signs": list(map(int, tie.signs)),
                "rows": tie.rows,
                "soft": tie.compliant,
            }
            for tie in structure.ties
        ]
    return result


def text_of(name: Any) -> str:
    """A body's name as the page writes it."""
    return " ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _order(system: System | Matrix, function: Order, structures: dict[str, Any]) -> dict[str, Any] | None:
    """Name, source and groups of an order; None where it has too much fill to be shown."""
    n = system.structure.n
    if n > WHOLE and function.name == "crbm_block_row":
        return None
    made = plan(function, system.structure)
    sequence = made.sequence
    if sequence.composites in TEN:
        raise OrderError(
            f"order {sequence.name!r}",
            "has composites of ten numbers, and the page eliminates whole blocks",
            "give it composites 'counted' to explore it",
        )
    if sequence.links not in structures:
        structures[sequence.links] = structure_of(made.graph.structure)
    most = MOST_FILL + made.graph.edges.shape[1] if n > WHOLE else None
    try:
        factor = symbolic(made, most)
    except (OrderError, SizeError):
        return None
    default = Rules()
    rules = {key: value for key, value in vars(sequence.rules).items() if value != getattr(default, key)}
    return {
        "name": sequence.name,
        "source": function.source,
        "what": (function.__doc__ or "").strip().split("\n")[0],
        **(SAID.get(sequence.name, {}) if isinstance(system, Matrix) else {}),
        "links": sequence.links,
        "split": made.graph.split,
        "rules": rules,
        "groups": groups_of(made),
        "fill": factor.fill_blocks,
        "height": factor.height,
    }


def _measured(
    system: System | Matrix,
    function: Callable[..., Any],
    formats: Sequence[str],
    reference: Callable[[str], Any],
    model: str,
) -> dict[str, Any]:
    """Errors in each format, who is to blame in float32, and the order as loops."""
    try:
        tape = _traced(system, function)
    except (OrderError, SingularError, SizeError) as error:
        return {"refused": str(error)}
    result: dict[str, Any] = {"flops": tape.flops, "formats": {}}
    for name in formats:
        result["formats"][name] = measured(system, tape, name, reference)
    if BLAMED in formats and system.structure.n <= MEASURED:
        result["blame"] = _blamed(system, tape, model)
    if tape.flops <= LISTED:
        with suppress(OrderError, SizeError):
            result["algorithm"] = algorithm_of(system, function)
    return result


def measured(
    system: System | Matrix, tape: Tape, name: str, reference: Callable[[str], Any]
) -> dict[str, Any]:
    """Error and digits of qdd in one format; or why there are none."""
    chosen = get_format(name)
    try:
        exact = reference(name)
        found = eliminate(system, tape, chosen, records=False)
    except PivotreeError as refusal:
        return {"failed": str(refusal)}
    error = None if found.failed_at else exact.error(found.qdd)
    return {
        "error": float(error) if error is not None and np.isfinite(error) else None,
        "digits": digits_of(error, chosen),
        "failed": found.failed_at,
        "marked": None if found.failed_at else marked(found, error, chosen),
    }


def _blamed(system: System | Matrix, tape: Tape, model: str) -> dict[str, Any] | None:
    """Shares of the worst output's error by pivot and by block operation, largest first."""
    try:
        found = replace(blame(system, tape, BLAMED, top=8), model=model)
    except PivotreeError:
        return None
    return {
        "format": BLAMED,
        "output": found.output,
        "sentence": found.sentence,
        "pivots": [[c.step, c.share] for c in found.pivots if c.step is not None],
        "top": [
            {"formula": c.formula, "step": c.step, "body": text_of(c.body), "share": c.share}
            for c in found.top
        ],
    }


ALONG = 5  # of the six rows of a body, moments first: the force along z


def sliders(masses: Sequence[float], efforts: Sequence[float]) -> nx.DiGraph[Any]:
    """Sliders of these masses [kg] under these forces of their joints [N], base first, at rest.

    Their names are numbers from the tip, 1, to the base, as in the paper; each stands 1 m farther on.
    """
    tree = new_tree("sliders", (0.0, 0.0, 0.0))
    count = len(masses)
    for k, mass in enumerate(masses):
        p = (0.0, 0.0, 1.0 if k else 0.0)
        inertia = mass * np.eye(3)
        add_body(
            tree, count - k, count - k + 1 if k else None, mass=mass, inertia=inertia, joint="prismatic", p=p
        )
    zero = np.zeros(count)
    tree.graph.update(q=zero, qd=zero, tau=np.array(efforts, dtype=float))
    return tree


def carried(document: dict[str, Any]) -> dict[str, Any]:
    """A document whose orders let each pivot meet its neighbours at once.

    The number in a cell is then what the next pivot finds there.  What was measured of these orders
    is left out: their operations differ.
    """
    kept = ("name", "source", "what", "links", "split", "groups", "fill", "height")
    orders = [
        {key: order[key] for key in kept} | {"rules": {"couple": "carried"}} for order in document["orders"]
    ]
    return document | {"orders": orders, "forms": []}


def along(document: dict[str, Any]) -> dict[str, Any]:
    """A document of sliders, of whose six directions one is kept: one number a block."""
    entries = document["entries"]
    bodies = range(document["bodies"])
    return document | {
        "structures": {"whole": document["structures"]["whole"] | {"rows": 1}},
        "entries": {
            "M": [[entries["M"][k][7 * ALONG]] for k in bodies],
            "H": [[entries["H"][k][ALONG]] for k in bodies],
            "Phi": [[1.0] for _ in bodies],
            "a": [[entries["a"][k][ALONG]] for k in bodies],
            "b": [[entries["b"][k][ALONG]] for k in bodies],
            "tau": entries["tau"],
            "masks": {
                "M": ["2" for _ in bodies],
                "H": ["1" for _ in bodies],
                "Phi": ["1" for _ in bodies],
                "rows": [[0] for _ in bodies],
            },
        },
    }
