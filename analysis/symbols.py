"""The one table of symbols: what the quantities of the literature are called, in each notation.

Listings, the formulas of blame, the labels of figures and of the explorer's page read it.
"""

from __future__ import annotations

from typing import NamedTuple


class Symbol(NamedTuple):
    """How a family is written.

    text, latex    without the index
    python         an identifier
    turned         the symbol stands for the transposed value
    reverse        the index is written last letter first
    inverse        the symbol stands for the inverse
    what           in words, as what it is physically
    """

    text: str
    latex: str
    python: str
    what: str = ""
    turned: bool = False
    reverse: bool = False
    inverse: bool = False

    @property
    def keyboard(self) -> str:
        """In letters of a keyboard: M^, Phi."""
        return self.text if self.text.isascii() else self.python


S = Symbol
# Role -> symbol; each reader knows which role a block has.
ASCHER = {
    "M": S("M", "M", "M", "spatial inertia"),
    "H": S("H", "H", "H", "joint axes, as rows"),
    "Phi": S("Φ", r"\Phi", "Phi", "force transform to the parent"),
    "A": S("A", "A", "A", "armature of the joint, zero where it has none"),
    "a": S("a", "a", "a", "bias acceleration"),
    "b": S("b", "b", "b", "bias force"),
    "tau": S("τ", r"\tau", "tau", "joint effort"),
    "G": S("G", "G", "G", "rows of a loop or contact on a body, negative on its first"),
    "gamma": S("γ", r"\gamma", "gamma", "bias acceleration of these rows"),
    "compliance": S("ε", r"\varepsilon", "compliance", "compliance of these rows"),
    "lam": S("Λ", r"\Lambda", "lam", "multipliers: force of a loop or contact"),
    "multiplier": S("λ", r"\lambda", "lam", "the same in pictures, where no parent is called λ(k)"),
    "lam pivot": S("Δ", r"\Delta", "Delta", "pivot of the multipliers: mobility of the loop, and compliance"),
    "lam other": S("Δ", r"\Delta", "Delta_other", "coupling of two loops or contacts"),
    "lam right": S("δ", r"\delta", "delta", "acceleration that the multipliers must undo"),
    "qdd": S("q¨", r"\ddot{q}", "qdd", "joint acceleration"),
    "pdd": S("p¨", r"\ddot{p}", "pdd", "minus the spatial acceleration"),
    "f": S("f", "f", "f", "spatial force through the joint"),
    "articulated": S("M^", r"\hat{M}", "M_hat", "articulated inertia"),
    "composite": S("R", "R", "R", "composite inertia"),
    "bias": S("b^", r"\hat{b}", "b_hat", "bias force of the subtree"),
    "composite bias": S("b^", r"\hat{b}", "b_hat", "bias force of the subtree"),
    "moved bias": S("b'", "b'", "b_moved", "bias force at the bias acceleration"),
    "U": S("U", "U", "U", "articulated inertia of the joint's axes"),
    "D": S("D", "D", "D", "pivot of the joint"),
    "Mbar": S("M¯", r"\bar{M}", "Mbar", "what the joint leaves of it"),
    "tilde": S("M~", r"\tilde{M}", "M_tilde", "what the children bring"),
    "local": S("α", r"\alpha", "alpha", "joint acceleration on a base at rest"),
    "right": S("a'", "a'", "a_moved", "acceleration before the joint's own"),
    "F": S("F", "F", "F", "composite inertia times the joint's axes, carried down"),
    "jsim": S("L", "L", "L", "joint-space inertia, of the joints left"),
    "inertia": S("ℳ", r"\mathcal{M}", "inertia", "joint-space inertia, before any joint is eliminated"),
    "effort": S("τ^", r"\hat\tau", "tau_hat", "joint effort left"),
    "along": S("B", "B", "B", "forces along the joint, H B = 1"),
    "across": S("C", "C", "C", "constraint forces, H C = 0"),
    "constraint": S("f^C", "f^C", "fC", "constraint force"),
    "S": S("S", "S", "S_own", "constraint inertia"),
    "S other": S("S", "S", "S", "coupling of two constraints"),
    "S right": S("s", "s", "s_right", "acceleration that the constraint must undo"),
    "E": S("E", "E", "E", "Φ C: a child's constraint forces"),
    "E along": S("G", "G", "G", "Φ B: a child's joint forces"),
    "SJ": S("T", "T", "T_own", "coupling of the joint with its constraint"),
    "SJ other": S("T", "T", "T", "coupling of joint forces with constraints"),
    "SJJ": S("Q", "Q", "Q_own", "mobility of the joint"),
    "SJJ other": S("Q", "Q", "Q", "coupling of two joints"),
    "SJ right": S("t", "t", "t_right", "free acceleration along the joint"),
    "basis": S("E", "E", "basis_of", "joint axes, and directions beside them"),
    "weighed": S("R", "R", "R", "weighted rows of the body's own inertia"),
    "rotated": S("R^", r"\hat{R}", "R_hat", "the same with the children's rows, rotated"),
    "force": S("p", "p", "p", "force that no row holds"),
    "passed": S("p'", "p'", "p_passed", "what of it goes to the parent"),
    "coupling": S("T", "T", "T", "pivot rows beside the joint"),
    "left": S("L", "L", "rows_left", "rows that the joint leaves"),
    "rows": S("G", "G", "G", "rows for the parent"),
    "residuals": S("z", "z", "z", "their residuals"),
    "y": S("y", "y", "y", "effort left, in the pivot rows"),
    "turned": S("U", "U", "turned", "pivot rows on the parent's motion along the joint"),
    "given": S("γ", r"\gamma", "given", "acceleration of the parent along the joint"),
    "beside": S("β", r"\beta", "beside", "acceleration beside the joint"),
    "shift": S("r", "r", "r", "residuals of the pivot rows"),
    "weights": S("w", "w", "w", "weights of the pivot rows"),
    "moved": S("σ", r"\sigma", "sigma", "acceleration along the joint"),
    "K": S("K", "K", "K", "matrix of (4), by groups"),
    "r": S("r", "r", "r", "right-hand side of (4), by groups"),
    "group D": S("D", "D", "D", "pivot of the group: what is left of K_kk at its turn"),
    "group W": S("W", "W", "W", "what is left of K_kj then, for groups to come"),
    "group y": S("y", "y", "y", "what is left of r_k then"),
    "group x": S("x", "x", "x", "solution of the group"),
}
FEATHERSTONE = {
    **ASCHER,
    "M": S("I", "I", "M", "spatial inertia"),
    "H": S("s", "s", "H", "joint axes (motion subspace)", turned=True),
    "Phi": S("X", "X", "Phi", "motion transform from the parent", turned=True),
    "a": S("c", "c", "a", "v × s q', and at a root minus gravity"),
    "b": S("(v × Iv)", r"(v \times I v)", "b", "bias force of a moving body"),
    "tau": S("Q", "Q", "tau", "joint effort"),
    "qdd": S("q''", r"\ddot{q}", "qdd", "joint acceleration"),
    "pdd": S("a", "a", "acc", "spatial acceleration"),
    "articulated": S("I^A", "I^A", "IA", "articulated-body inertia"),
    "composite": S("I^C", "I^C", "IC", "composite inertia"),
    "bias": S("p^A", "p^A", "pA", "bias force"),
    "composite bias": S("p^C", "p^C", "pC", "bias force"),
    "moved bias": S("p'", "p'", "pc", "bias force at c"),
    "jsim": S("H", "H", "H_joint", "joint-space inertia, of the joints left"),
    "effort": S("Q^", r"\hat{Q}", "Q_hat", "joint effort left"),
}
YAMANE = {
    **ASCHER,
    "M": S("A", "A", "M", "spatial inertia"),
    "A": S("J", "J", "A", "armature of the joint, zero where it has none"),
    "H": S("s", "s", "H", "joint axes (motion subspace)", turned=True),
    "Phi": S("X", "X", "Phi", "motion transform from the parent", turned=True),
    "a": S("c", "c", "a", "bias acceleration"),
    "tau": S("nᴶ", "n_{J}", "tau", "joint torque"),
    "qdd": S("q''", r"\ddot{q}", "qdd", "joint acceleration"),
    "pdd": S("θ''", r"\ddot\theta", "acc", "spatial acceleration"),
    "along": S("Kᴶ", "K_{J}", "B", "directions along the joint", turned=True),
    "across": S("K", "K", "C", "constrained directions", turned=True),
    "constraint": S("n", "n", "n_C", "constraint force"),
    "S": S("M", "M", "S_own", "inertia at the joint", inverse=True),
    "S right": S("a", "a", "a_right", "acceleration that the constraint must make"),
    "E": S("H", "H", "E", "constraint with respect to the parent", turned=True, reverse=True),
    "E along": S("Hᴶ", "H_{J}", "G", "joint with respect to the parent", turned=True, reverse=True),
    "SJ": S("Sᴶ", "S_{J}", "SJ_own", "coupling of the joint with its constraint"),
    "SJ other": S("Sᴶ", "S_{J}", "SJ", "coupling of joints with constraints"),
    "SJJ": S("P", "P", "P_own", "mobility of the joint"),
    "SJJ other": S("P", "P", "P", "coupling of two joints"),
    "SJ right": S("aᴶ", "a_{J}", "aJ", "free acceleration of the joint"),
}


NOTATIONS = {"ascher": ASCHER, "featherstone": FEATHERSTONE, "yamane": YAMANE}
DEFAULTS = {
    **dict.fromkeys(("abm", "gain_abm", "bad_abm", "joseph_abm", "crbm", "inverse_dynamics"), "featherstone"),
    **dict.fromkeys(
        ("virtual_work", "virtual_work_split", "constraint_force", "divide_and_conquer", "lagrange"), "yamane"
    ),
}


def tex_letters() -> dict[str, str]:
    """Role -> TeX of the blocks that pictures of the matrix name, as Ascher, Pai & Cloutier write them."""
    roles = "M H Phi A G multiplier qdd pdd f along across articulated tilde composite D inertia"
    return {role: ASCHER[role].latex for role in roles.split()}


def told_letters() -> dict[str, str]:
    """TeX of the same letters -> what each is, in words.

    >>> from pivotree.analysis.symbols import told_letters
    >>> told_letters()["D"]
    'pivot of the joint'
    """
    return {tex: ASCHER[role].what for role, tex in tex_letters().items() if role != "multiplier"} | {
        ASCHER["multiplier"].latex: ASCHER["lam"].what.partition(": ")[2]
    }


def escaped(text: str) -> str:
    """Words as LaTeX prints them, whatever letters they have."""
    return text.translate(_SPECIAL)


_SPECIAL = {ord(letter): f"\\{letter}" for letter in "_%&#${}"} | {
    ord("~"): r"\~{}",
    ord("^"): r"\^{}",
    ord("\\"): r"\textbackslash{}",
    ord("<"): r"\textless{}",
    ord(">"): r"\textgreater{}",
    ord("×"): r"$\times$",
}
