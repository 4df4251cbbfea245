"""``list --python``: a script that runs."""

from __future__ import annotations

import textwrap
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt.base.errors import sentence
from pivotree.kkt.matrix.system import System
from pivotree.kkt.solution.eliminate import eliminate

from .choice import number_of
from .general import CHAINS, THIS_TREE, freedoms
from .helpers import helpers
from .listing import Listing
from .script import Script
from .vocabulary import SETS


def python(listing: Listing) -> str:
    """The listing as a standalone numpy script, with the model's data below."""
    script = Script(listing)
    body: list[str] = []
    for loop in listing.loops:
        body += script.loop(loop)
    made = list(dict.fromkeys(listing.names.symbols[line.family].python for line in listing.lines()))
    given = _given(listing)
    result, further = listing.problem, listing.outputs
    called = "derivatives" if further else result
    head = [
        f"def {called}(parent, {', '.join(given)}):",
        *textwrap.indent(_docstring(listing, given), "    ").splitlines(),
        "    n, N = len(parent), [len(h) for h in H]",
    ]
    head += _guards(listing, given)
    setup = _setup(listing, script, given)
    head += textwrap.indent(setup, "    ").splitlines()
    if len(made) == 1:
        head.append(f"    {made[0]} = {{}}")
    else:
        names = f"({', '.join(made)})"
        head += textwrap.wrap(names, 66, initial_indent="    ", subsequent_indent="     ")
        head[-1] += f" = ({{}} for _ in range({len(made)}))"
    tail = (
        f"    return np.concatenate([{result}[k] for k in range(n) if N[k]])"
        if any(listing.system.tree.dof)
        else "    return np.zeros(0)"
    )
    if further:
        head.append("    v_0 = np.zeros(6)")
        tail = _matrices(listing, tail)
    if listing.groups:
        body += UNKNOWNS.splitlines()
    lines = [*head, *("    " + line for line in body), tail]
    text = "\n".join(lines)
    needs = ["solve"] if "solve(" in text else []
    imports = "import numpy as np\n" + ("from numpy.linalg import solve\n" if needs else "")
    needed = helpers(script)
    said = f"{listing.order} on {listing.system.name}, listed by pivotree."
    first = f'"""{_quoted(said)}"""\n\n'
    return (
        first
        + imports
        + "\n"
        + _tables(listing, script)
        + needed
        + "\n\n"
        + text
        + "\n\n\n"
        + _data(listing, given)
    )


def _guards(listing: Listing, given: Collection[str]) -> list[str]:
    """The beginning of the function: it refuses trees on which these lines do not hold."""
    structure, head = listing.tree.structure, []
    if listing.holds_on == CHAINS:
        head += [
            "    if len({k for k in parent if k >= 0}) < sum(k >= 0 for k in parent):",
            '        raise ValueError("these lines are those of chains; a body here carries two")',
        ]
    elif listing.holds_on == THIS_TREE:
        head += [
            "    if list(parent) != PARENT or N != FREEDOMS:",
            '        raise ValueError("these lines are those of another tree")',
        ]
    if listing.holds_on != THIS_TREE:
        roots, others = freedoms(listing.telling)
        head += [
            "    kinds = [m if m in (0, 1, 6) else 2 for m in N]  # 2 stands for 2 to 5",
            f"    if any(m not in ({roots} if up < 0 else {others}) for m, up in zip(kinds, parent)):",
            '        raise ValueError("these lines are those of joints of other freedoms")',
        ]
    if structure.ties:
        first, sizes = ("len(LINKS)", "PIECE_N") if structure.divided else ("n", "N")
        head += [
            "    if sorted(G) != sorted(TIED) or [len(x) for x in gamma] != ROWS:",
            '        raise ValueError("these lines are those of other loops and contacts")',
            f"    first = {first}  # loops are numbered behind the bodies",
            "    G = {(first + c, k): x for (c, k), x in G.items()}",
            "    gamma = dict(enumerate(gamma, first))",
        ]
        if "compliance" in given:
            head.append("    compliance = dict(enumerate(compliance, first))")
        head.append(f"    N = [*{sizes}, *ROWS]")
    return head


UNKNOWNS = """part_of = {i: part(x[k], i, GROUPS[k], N) for k in turn for i in GROUPS[k]}
qdd, lam = ({k: part_of[kind, k] for kind, k in part_of if kind == one} for one in ("qdd", "lam"))"""


def _setup(listing: Listing, script: Script, given: Collection[str]) -> str:
    """Definitions of the sets; for lines over groups, of the matrix in groups."""
    if not listing.groups:
        return "\n".join(SETS[name].table(name) for name in script.used)
    structure = listing.tree.structure
    script.functions |= {"equation_4", "part", *(["along"] if listing.split else [])}
    pieces = "LINKS" if structure.divided else "[(up, k, 1) for k, up in enumerate(parent)]"
    lines = [f"links = {pieces}"] + ["N = PIECE_N"] * (structure.divided and not structure.ties)
    some = [name for name in given if name in ("A", "G", "gamma", "compliance")]
    more = "".join(f", {name}={name}" for name in some) + ", split=True" * listing.split
    lines += [
        f"blocks, right = equation_4(links, N, M, H, Phi, a, b, tau{more})",
        "turn, near = range(len(GROUPS)), coupled(GROUPS, blocks)",
        *(SETS[name].table(name) for name in ("left", "gone", "shared")),
        "K = {(k, j): gathered(blocks, GROUPS[k], GROUPS[j], N) for k in turn for j in [k, *left[k]]}",
        "r = {k: np.concatenate([right[i] for i in GROUPS[k]]) for k in turn}",
    ]
    return "\n".join(lines)


def _given(listing: Listing) -> dict[str, Any]:
    """The function's arguments after ``parent``: lists of blocks by body or loop, G by pairs, and g."""
    system, known = listing.system, listing.tree.structure
    e, ties = system.entries, system.structure.ties

    def diagonal(x: NDArray) -> list[NDArray]:
        return [np.diag(block) for block in by_joint(system, x)]

    given: dict[str, Any] = {"M": e.M, "H": by_joint(system, e.S), "Phi": e.Phi}
    if known.armature.any():
        given["A"] = diagonal(e.A)
    given |= {"a": e.a, "b": e.b}
    if listing.problem == "qdd":
        given["tau"] = by_joint(system, e.tau)
    else:  # the accelerations under the model's efforts
        given["qdd"] = by_joint(system, eliminate(system, None).qdd)
    if ties:
        rows = [tie.rows for tie in ties]
        sides = [
            (c, k, sign) for c, tie in enumerate(ties) for k, sign in zip(tie.bodies, tie.signs, strict=True)
        ]
        blocks = np.split(e.G, np.cumsum([rows[c] for c, _, _ in sides])[:-1])
        given["G"] = {(c, k): sign * x for (c, k, sign), x in zip(sides, blocks, strict=True)}
        given["gamma"] = np.split(e.gamma, np.cumsum(rows)[:-1])
        if any(tie.compliant for tie in ties):
            given["compliance"] = [np.diag(x) for x in np.split(e.compliance, np.cumsum(rows)[:-1])]
    if listing.outputs:
        given["qd"] = by_joint(system, system.state.qd)
        given["g"] = np.concatenate([np.zeros(3), system.state.gravity])
        given |= {name: diagonal(x) for name, x in listing.terms.items()}
    return given


def _quoted(text: str) -> str:
    """Words of a docstring, which no name in them ends."""
    return sentence(text).replace("\\", "\\\\").replace('"', '\\"')


def _docstring(listing: Listing, given: Collection[str]) -> str:
    what = "Joint accelerations" if listing.problem == "qdd" else "Joint efforts"
    source = f" ({listing.source})" if listing.source else ""
    said = _quoted(f"{what} by {listing.order}{source}.")
    first = textwrap.wrap(f'"""{said}', 92, break_long_words=False)
    text = "\n".join(first) + "\n\n"
    text += (
        "parent[k] is the body that k hangs on, -1 for none; M (6, 6) inertias, H (N_k, 6) joint\n"
        "axes, Phi (6, 6) force transforms to the parent, a and b (6,) bias accelerations and\n"
        "forces, tau or qdd (N_k,), all of them lists by body.\n"
        + ("A (N_k, N_k) are armatures.\n" if "A" in given else "")
        + (LOOPS if "G" in given else "")
        + (FURTHER if listing.outputs else "")
    )
    for family, symbol in listing.names.symbols.items():
        if family[0] != "input" and symbol.what:
            text += f"{symbol.python}: {symbol.what}.\n"
    return text + '"""'


LOOPS = """G[c, k] (m_c, 6) are rows of loop or contact c on minus the acceleration of body k, with
a minus on its first body; gamma (m_c,) and compliance (m_c, m_c) are lists by loop.
"""


FURTHER = """qd (N_k,) are rates, g (6,) is gravity as a motion;
stiffness and damping (N_k, N_k) are what efforts lose by q and by qd.
Returns qdd and its derivatives by q, qd and tau, rows and columns by body:
x_q[k, j] is what stands for x[k] in the column of q_j.
"""


def _matrices(listing: Listing, tail: str) -> str:
    """Return qdd and the matrices of its derivatives."""
    made = []
    for names in listing.outputs.values():
        pairs = [f"**{{(k, k): x for k, x in {name}.items()}}" if one else f"**{name}" for name, one in names]
        made.append(f"{{{', '.join(pairs)}}}" if len(pairs) > 1 or names[0][1] else names[0][0])
    if not any(listing.system.tree.dof):
        return "    return (np.zeros(0), *(np.zeros((0, 0)) for _ in range(3)))"
    return f"""    moving = [k for k in range(n) if N[k]]
    none = {{(k, j): np.zeros((N[k], N[j])) for k in moving for j in moving}}
    whole = [{{**none, **x}} for x in ({", ".join(made)})]
    return ({tail.strip().removeprefix("return ")}, *(
        np.block([[x[k, j] for j in moving] for k in moving]) for x in whole
    ))"""


def _tables(listing: Listing, script: Script) -> str:
    lines, n = [], listing.tree.n
    structure = listing.tree.structure
    if listing.holds_on == THIS_TREE:
        lines.append(f"PARENT = {listing.system.tree.parent.tolist()}")
        lines.append(f"FREEDOMS = {[int(N) for N in listing.system.tree.dof]}")
    if structure.divided:  # parent, body, and how many share its inertia; 0 for what has none
        share = np.where(structure.carrier, 0, structure.pieces).tolist()
        links = zip(structure.parent.tolist(), structure.copy_of.tolist(), share, strict=True)
        lines.append(f"LINKS = {[*links]}")
        lines.append(f"PIECE_N = {listing.tree.dof[:n]}")
    if listing.groups:
        groups = [[(i.kind, number_of(structure, i)) for i in group] for group in listing.groups]
        lines.append(f"GROUPS = {groups}".replace("'", '"'))
    elif "turn" in script.used:
        lines.append(f"TURN = {[*listing.tree.turn]}")
    if structure.ties:
        lines.append(f"TIED = {[(c, k) for c, tie in enumerate(structure.ties) for k in tie.bodies]}")
        lines.append(f"ROWS = {[tie.rows for tie in structure.ties]}")
    return "\n".join(textwrap.fill(line, 98, subsequent_indent="    ") for line in lines) + (
        "\n" if lines else ""
    )


def _data(listing: Listing, given: dict[str, Any]) -> str:
    """The model's blocks, and the statement that prints what the function makes of them."""
    parent = listing.system.tree.parent.tolist()
    text = textwrap.fill(f"parent = {parent}", 98, subsequent_indent="    ") + "\n"
    text += "".join(_written(name, blocks) for name, blocks in given.items())
    lists = ", ".join(name for name in given if name not in ("G", "g"))
    text += f"{lists} = (\n    [np.array(x, dtype=float) for x in blocks]\n    for blocks in ({lists})\n)\n"
    call = f"(parent, {', '.join(given)})"
    if listing.outputs:
        text += f"for x in derivatives{call}:\n    print(x)\n"
    else:
        text += f"print({listing.problem}{call})\n"
    return 'if __name__ == "__main__":\n' + textwrap.indent(text, "    ")


def _written(name: str, blocks: Any) -> str:
    """The statement that gives a name its blocks: a list, a dictionary by pairs, or one array."""

    def array(x: NDArray) -> str:
        if x.ndim > 1 and not len(x):
            return f"np.zeros({x.shape})"
        text = repr((np.asarray(x, dtype=float) + 0.0).tolist())  # no -0.0
        return text.replace(".0,", ".,").replace(".0]", ".]")

    if name == "g":
        return f"g = np.array({array(blocks)})\n"
    pairs = isinstance(blocks, dict)
    texts = [f"{pair}: {array(x)}" for pair, x in blocks.items()] if pairs else map(array, blocks)
    fill = textwrap.TextWrapper(94, initial_indent="    ", subsequent_indent="     ", break_on_hyphens=False)
    inside = "".join(fill.fill(text) + ",\n" for text in texts)
    if not pairs:
        return f"{name} = [\n{inside}]\n"
    made = f"{name} = {{pair: np.array(x, dtype=float) for pair, x in {name}.items()}}\n"
    return f"{name} = {{\n{inside}}}\n{made}"


def by_joint(system: System, x: np.ndarray) -> list[np.ndarray]:
    """(N,) numbers as blocks (N_k,) of every body."""
    offset = system.tree.offset
    return [x[offset[k] : offset[k + 1]] for k in range(system.tree.n)]
