"""A robot's answer in letters: masses, lengths, inertias and angles as symbols, in closed form.

The kinematics and the order's tape are those that numbers go through; here they are played on
polynomials over the rationals, which are flint's.  Products are reduced by sin^2 + cos^2 = 1 and by
D_k / D_k = 1.  What is divided by gets a name, D_k where it is the pivot of joint k, as in the papers; a
polynomial that becomes too long gets one, too, x_i, so that the answer of a long robot stays readable.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, permutations
from typing import TYPE_CHECKING, Any, Union

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import (
    Block,
    Elimination,
    FormatError,
    InertiaWarning,
    ModelError,
    OrderError,
    SizeError,
    System,
)
from pivotree.kkt.arithmetic import Format
from pivotree.kkt.arithmetic.formats import DIV
from pivotree.kkt.base.foreign import of_kind
from pivotree.kkt.base.shown import Shown
from pivotree.kkt.machine.forward_dynamics import system_to_trace, tape_of
from pivotree.kkt.machine.kinematics import arguments, entries
from pivotree.kkt.matrix.configuration import Configuration
from pivotree.kkt.matrix.entries import Entries
from pivotree.kkt.model.tree import BodyTree
from pivotree.kkt.tape.derivatives import inertia_slots
from pivotree.kkt.tape.player import elimination_of, run, signed
from pivotree.kkt.tape.tape import Tape

from .letterfile import load_letters, stood

if TYPE_CHECKING:
    import sympy

LONGEST = 100  # terms of a polynomial, beyond which it gets a name
PARTS = 300  # such names at most, which six links in space need not
FREEDOMS = 6  # of a robot whose answer is written without names
PRODUCTS = 200_000  # terms that a product may have where nothing gets a name
Model = Union["nx.DiGraph[Any]", System, str, os.PathLike[str]]  # texts are those that kkt.load takes
Place = tuple[str, tuple[int, ...]]  # a field of the tree, and where in it
FIELDS = {"mass": "m", "com": "c", "inertia": "I", "p": "l"}  # of a body, and their letters
STATE = ("q", "qd", "tau")


@dataclass(frozen=True, repr=False)
class ClosedForm(Shown):
    """The dynamics of a robot in letters, by the pivots of an order.

    ``defined`` holds what has a name, in the order of elimination: the pivots D_k, and long parts x_i,
    each in the letters and in those before it.  ``qdd`` (N) is in the letters and in these.  ``inertia``
    is the joint-space inertia matrix (N, N), where the order leaves it, as crbm does; else None.

    >>> pt.closed_form(pt.load("rr_arm"))
    <ClosedForm abm: 2 names, 2 accelerations>
    """

    order: str
    defined: dict[sympy.Symbol, sympy.Expr]
    qdd: dict[sympy.Symbol, sympy.Expr]
    inertia: sympy.Matrix | None
    values: dict[sympy.Symbol, float]  # of the letters that stand for the model's numbers

    def facts(self) -> dict[str, Any]:
        return {"name": self.order, "names": len(self.defined), "accelerations": len(self.qdd)}

    def lines(self) -> list[tuple[Any, Any]]:
        """What is defined, then qdd: each name with its expression."""
        return [*self.defined.items(), *self.qdd.items()]

    def __str__(self) -> str:
        return "\n".join(f"{name} = {value}" for name, value in self.lines())

    def to_latex(self) -> str:
        """The lines as an aligned block of LaTeX."""
        import sympy

        lines = (f"{sympy.latex(name)} &= {sympy.latex(value)}" for name, value in self.lines())
        return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"

    def to_python(self, name: str = "qdd") -> str:
        """A function of Python that gives qdd as a list, from the letters by their names."""
        import sympy

        free = set().union(*(value.free_symbols for _, value in self.lines())) - set(self.defined)
        given = ", ".join(sorted(map(str, free)))
        body = [f"    {key} = {sympy.pycode(value)}" for key, value in self.lines()]
        answer = f"    return [{', '.join(map(str, self.qdd))}]"
        return "\n".join(["import math", "", "", f"def {name}({given}):", *body, answer, ""])


@of_kind
def closed_form(
    model: Model, order: Any = "abm", letters: str | None = None, longest: int = LONGEST
) -> ClosedForm:
    """The accelerations of (4) in letters, for a tree of bodies or its file, by the pivots of an order.

    A model may have sympy's expressions for its masses, centres of mass, inertias, placements p and
    gravity; then these are the letters.  Of a model of numbers alone, every mass m_k, centre c_k, inertia
    I_k, placement l_k and gravity g that is not zero is a letter, or with ``letters`` "state" none is.
    Positions q_k, rates qd_k and efforts tau_k always are letters; numbers are exact, as the decimals
    that they are written by.  Polynomials of more than ``longest`` terms get names.

    Raises ModelError for joints whose pose is a quaternion, joints' own terms and closed loops, and
    SizeError where more names are needed than there are.

    >>> arm = pt.closed_form(pt.load("rr_arm"), "crbm")
    >>> arm.inertia[1, 1], list(arm.qdd)
    (I_2zz + c_2**2*m_2, [qdd_1, qdd_2])
    """
    import sympy

    if longest < 1:
        raise ModelError("closed form", f"longest is {longest}", "give 1 term or more")
    robot = InLetters(model, letters, longest, None, [order])
    system, ring, (tape, solution, values) = robot.system, robot.ring, robot.played(robot.tapes[0])
    qdd = [ring.shown(x) for x in _accelerations(system, solution)]
    inertia = None
    if tape.inertia is not None:
        rows = signed(values, inertia_slots(system, tape))
        inertia = sympy.Matrix([[ring.shown(x) for x in row] for row in rows])
    named = dict(zip(ring.symbols("qdd"), qdd, strict=True))
    return ClosedForm(tape.program.name, dict(ring.definitions()), named, inertia, robot.values)


class InLetters(Shown):
    """A robot in letters, for :func:`kkt.eliminate`, as ``in_letters`` makes it."""

    def __init__(
        self,
        model: Any,
        letters: str | None = None,
        longest: int | None = LONGEST,
        most: int | None = FREEDOMS,
        orders: Sequence[Any] = (),
    ) -> None:
        """``longest`` is the ring's; ``most`` freedoms are taken, all where it is None.

        The ring has letters for all that ``orders`` divide by, or, where none is given, any order may.
        """
        if letters not in (None, "state"):
            raise ModelError("closed form", f"letters is {letters!r}", "leave it out, or use 'state'")
        self._given = model, letters, longest, most
        numbers, given = _stand_ins(model)
        with warnings.catch_warnings():
            if given:  # of numbers that only stand for letters
                warnings.simplefilter("ignore", InertiaWarning)
            self.system: System = system_to_trace(numbers, what="closed form")
        tree, self.name = self.system.tree, self.system.name
        if most is not None and most < tree.N:
            raise SizeError(
                self.name,
                f"has {tree.N} freedoms, and answers without names are written for up to {most}",
                "use closed_form, which gives long parts names",
            )
        configuration = Configuration(tree, self.system.graph)
        _require_plain(self.system, configuration)
        self.values: dict[sympy.Symbol, float] = {}  # of letters that stand for numbers
        if not given and letters is None:
            given = _lettered(tree)
            for (field, at), letter in given.items():
                number = float(getattr(tree, field)[at])
                self.values |= {letter: number} if letter.is_Symbol else {-letter: -number}  # gravity is -g
        self.tapes: list[Tape] = [tape_of(self.system, order) for order in orders]
        divisors = [x.b[x.op == DIV] for tape in self.tapes for x in tape.chunks()]
        inverses = sum(len(np.unique(slots)) for slots in divisors) if orders else 40 * tree.n
        self.ring: _Ring = _Ring(configuration, given, longest, inverses)
        self.entries: Entries = _entries(configuration, self.ring)
        _require_pattern(self.system, self.entries)

    def __reduce__(self) -> tuple[Any, ...]:
        return InLetters, self._given  # a ring of python-flint's cannot be pickled

    def facts(self) -> dict[str, Any]:
        return {"name": self.name, "letters": len(self.ring.own)}

    def eliminated(self, order: Any, chosen: Format) -> Elimination:
        """Its answer by an order, in the letters alone; raises FormatError for a format of numbers."""
        if chosen.name != "sympy":
            raise FormatError(self.name, "is in letters", "use the format sympy, or a tree of numbers")
        tape, solution, _ = self.played(order)
        known: dict[sympy.Symbol, sympy.Expr] = {}
        for name, value in self.ring.definitions():
            known[name] = value.xreplace(known)
        shown = np.frompyfunc(lambda x: self.ring.shown(x).xreplace(known), 1, 1)
        whole = {block: shown(values) for block, values in solution.items()}
        return elimination_of(self.system, tape, chosen, whole, (), None)

    def played(self, order: Any) -> tuple[Tape, dict[Block, NDArray[Any]], Any]:
        """An order's tape, its solution in the ring, where pivots have names, and the values of its slots.

        ``order`` may be traced already.
        """
        tape = tape_of(self.system, order)
        solution, pivots, values = run(tape, self.entries, self.ring.number)
        self.ring.name_pivots(tape, pivots)
        return tape, solution, values


def in_letters(model: Model, letters: str | None = None) -> InLetters:
    """A robot and its equation (4) in letters, for ``pt.eliminate(robot, order, "sympy")``.

    Its letters are those of :func:`closed_form`, and so are its errors; ``qdd`` (N,), ``pdd`` and ``f``
    (n, 6) of the answer are sympy's expressions in them, with nothing else named.  Raises SizeError for
    more than six freedoms, whose expressions fill no page.

    >>> pt.eliminate(pt.in_letters(pt.chain(1)), "abm", "sympy").qdd
    array([tau_1/(I_1zz + c_1**2*m_1)], dtype=object)
    """
    return InLetters(model, letters)


def equal_forms(model: Model, orders: Sequence[Any], letters: str | None = None) -> list[bool]:
    """(N,) whether each qdd is one rational function of the letters by all these orders.

    All orders are played in one ring; what is divided by is then multiplied out, the last pivot first,
    which is exact since no pivot is zero there, and polynomials that are left are compared.  Raises as
    :func:`closed_form` does, and SizeError where a polynomial becomes too long.

    >>> from pivotree.analysis.letters import equal_forms
    >>> equal_forms(pt.load("rr_arm"), ["abm", "crbm"])
    [True, True]
    """
    if not orders:
        raise OrderError("equal forms", "no order is given", "name two or more")
    robot = InLetters(model, letters, None, None, orders)
    answers = [_accelerations(robot.system, robot.played(tape)[1]) for tape in robot.tapes]
    return [
        all(robot.ring.is_zero(x.value - y.value) for y in same) for x, *same in zip(*answers, strict=True)
    ]


def _accelerations(system: System, solution: Mapping[Block, NDArray[Any]]) -> list[Any]:
    """Of all freedoms; fixed bodies have none."""
    return [x for name in system.tree.names for x in solution.get(Block("qdd", name), ())]


def _stand_ins(model: Any) -> tuple[Any, dict[Place, sympy.Expr]]:
    """The model with numbers in the place of its own expressions, and these, each by its field and place."""
    import sympy

    found: dict[Place, sympy.Expr] = {}
    if isinstance(model, str | os.PathLike):
        model = load_letters(model)
    if not isinstance(model, nx.DiGraph):
        return model, found
    numbers, names = model.copy(), list(model)
    owners = [(k, numbers.nodes[name], FIELDS) for k, name in enumerate(names)]
    for k, fields, known in [*owners, (None, numbers.graph, ("gravity",))]:
        for field in known:
            value = np.asarray(fields.get(field), dtype=object)
            own = {at: x for at, x in np.ndenumerate(value) if isinstance(x, sympy.Expr)}
            if not own:
                continue
            for at, x in own.items():
                found[field, at if k is None else (k, *at)] = x
            where = "tree" if k is None else f"body {names[k]!r}"
            fields[field] = stood(value, where, field)
    return numbers, found


def _lettered(tree: BodyTree) -> dict[Place, sympy.Expr]:
    """A letter for every number of a tree that is not zero, by its field and place."""
    import sympy

    found: dict[Place, sympy.Expr] = {}
    for field, letter in FIELDS.items():
        for k, label in enumerate(_labels(tree)):
            own = np.asarray(getattr(tree, field)[k])
            places = list(zip(*np.nonzero(own), strict=True)) if own.ndim else [()] * bool(own)
            for at in places:
                axes = "".join("xyz"[i] for i in sorted(at)) if len(places) > 1 else ""
                found[field, (k, *map(int, at))] = sympy.Symbol(f"{letter}_{label}{axes}")
    down = np.flatnonzero(tree.gravity).tolist()
    for i in down:
        g = sympy.Symbol("g" if len(down) == 1 else f"g_{'xyz'[i]}")
        found["gravity", (i,)] = g if tree.gravity[i] > 0.0 else -g
    return found


def _labels(tree: BodyTree) -> list[str]:
    """What stands behind a body's letters: the number that its name ends with, where these differ.

    Else its name, unless another's begins with it, as that of an axis would follow; else its place.
    """
    names = [str(name) for name in tree.names]
    numbers = [name[len(name.rstrip("0123456789")) :] for name in names]
    if all(numbers) and len(set(numbers)) == len(numbers):
        return numbers
    words = ["".join(x if x.isalnum() else "_" for x in name) for name in names]
    apart = not any(a.startswith(b) for a, b in permutations(words, 2))
    return words if apart else [str(k + 1) for k in range(tree.n)]


def _require_plain(system: System, configuration: Configuration) -> None:
    """Raise ModelError for what polynomials in sines and cosines do not hold."""
    if system.loops:
        raise ModelError("closed form", "there is none with closed loops", "leave them out")
    if system.tree.terms is not None:
        raise ModelError("closed form", "armature, damping and springs have no letters", "leave them out")
    for k, name in enumerate(system.tree.names):
        if configuration.turns(k):
            raise ModelError(
                "closed form",
                f"body {name!r}: the pose of its joint, {system.tree.joint[k]}, is a quaternion",
                "use revolute, prismatic, cylindrical or universal joints",
            )
    if any(speed not in (0.0, 1.0) for _, speed in arguments(configuration)):
        raise ModelError("closed form", "a general joint turns by more than its q", "scale its S to length 1")


def _entries(configuration: Configuration, ring: _Ring) -> Entries:
    """The entries of (4) by the kinematics that compiled programs are traced from."""
    x, qd, tau = (ring.array(np.array(ring.symbols(letter))) for letter in STATE)
    pushed = np.zeros((configuration.tree.n, 6), dtype=object)
    found = entries(replace(configuration, tree=ring.tree), x, qd, tau, pushed)
    return Entries(*map(ring.array, found))


def _require_pattern(system: System, found: Entries) -> None:
    """Raise ModelError where the tape takes an entry for zero, or for one, and it is not in letters."""
    pattern = system.pattern
    zero = [(letter, getattr(found, letter)[~getattr(pattern, letter)], 0) for letter in ("M", "Phi", "S")]
    one = [("Phi", found.Phi[pattern.Phi_one], 1), ("S", found.S[pattern.S_one], 1)]
    for letter, values, fixed in [*zero, *one]:
        if odd := [x for x in values if x.value != fixed]:
            raise ModelError(
                "closed form",
                f"an entry of {letter} is {fixed} in the model's numbers, and {odd[0].value} in letters",
                "give the model numbers that are not special",
            )


class _Ring:
    """Polynomials in a robot's letters, the sines and cosines of its angles, 1/D_k, and long parts."""

    def __init__(
        self, configuration: Configuration, given: dict[Place, sympy.Expr], longest: int | None, inverses: int
    ) -> None:
        """``longest`` None: nothing gets a name but what is divided by, and what is longer is refused."""
        import sympy
        from flint import fmpq_mpoly_ctx

        tree = configuration.tree
        self.longest = longest
        self._freedoms = [
            f"{label}{'xyzuvw'[j] if dof > 1 else ''}"
            for label, dof in zip(_labels(tree), tree.dof.tolist(), strict=True)
            for j in range(dof)
        ]
        angles = [self._freedoms[own.start] for own, speed in arguments(configuration) if speed]
        self._inverses = [f"1/{i}" for i in range(inverses)]
        self._parts = [f"x_{i + 1}" for i in range(0 if longest is None else PARTS)]
        state = [str(x) for letter in STATE for x in self.symbols(letter)]
        own = self.own = sorted({str(x) for value in given.values() for x in value.free_symbols})
        turns = [(f"sin {angle}", f"cos {angle}") for angle in angles]
        self.letters = [*chain(*turns), *self._inverses, *self._parts, *state, *own]
        taken = {"math", *state, *self._parts, *(f"{x}_{f}" for x in ("qdd", "D") for f in self._freedoms)}
        if twice := [x for x in own if x in taken or x.startswith("E_")]:
            raise ModelError("closed form", f"the model's letter {twice[0]} has another meaning", "rename it")
        self.context = fmpq_mpoly_ctx.get(self.letters, "lex")
        self.generator = dict(zip(self.letters, self.context.gens(), strict=True))

        # what each letter is in sympy, and what has got a name so far
        self.symbol: dict[str, Any] = {x: sympy.Symbol(x) for x in self.letters}
        self.symbol |= {str(x): x for value in given.values() for x in value.free_symbols}
        for angle, (sin, cos) in zip(angles, turns, strict=True):
            q = sympy.Symbol(f"q_{angle}")
            self.symbol |= {sin: sympy.sin(q), cos: sympy.cos(q)}
        self.defined: dict[str, Any] = {}
        self._known: dict[str, str] = {}  # names of long parts, by what they stand for

        # what is zero, with the place of a letter and the power of it that it takes away: sin^2 + cos^2 - 1,
        # and D_k / D_k - 1 once a pivot is known
        gen = self.generator
        circles = (gen[sin] ** 2 + gen[cos] ** 2 - 1 for sin, cos in turns)
        self._zeros = [(2 * k, 2, circle) for k, circle in enumerate(circles)]

        # the tree with letters in the place of its numbers
        arrays = {field: getattr(tree, field).astype(object) for field in (*FIELDS, "gravity")}
        for (field, at), value in given.items():
            arrays[field][at] = self.number(value)
        self.tree = replace(tree, **arrays)

    # -- letters and numbers as polynomials --------------------------------------------------------

    def symbols(self, letter: str) -> list[sympy.Symbol]:
        """(N) q, qd, tau or qdd of every freedom."""
        import sympy

        return [sympy.Symbol(f"{letter}_{freedom}") for freedom in self._freedoms]

    def array(self, values: NDArray[Any]) -> NDArray[Any]:
        out = np.empty(np.shape(values), dtype=object)
        for at, x in np.ndenumerate(values):
            out[at] = self.number(x)
        return out

    def number(self, x: Any) -> _Number:
        return x if isinstance(x, _Number) else _Number(self, self.value(x))

    def value(self, x: Any) -> Any:
        """The polynomial of a number, of a float as its shortest decimal, or of sympy's expression."""
        import sympy
        from flint import fmpq

        if isinstance(x, _Number):
            return x.value
        if not isinstance(x, sympy.Expr):
            exact = Fraction(repr(float(x)))
            return self.context.constant(fmpq(exact.numerator, exact.denominator))
        letters, exact = sorted(x.free_symbols, key=str), sympy.nsimplify(x, rational=True)
        if not letters and not exact.is_Rational:  # the root of two, as a float
            return self.value(float(x))
        try:
            terms = sympy.Poly(exact, *letters, domain="QQ").terms() if letters else [((), exact)]
        except (sympy.PolynomialError, sympy.CoercionFailed):
            raise ModelError("closed form", f"{x} is no polynomial", "give polynomials in letters") from None
        total = self.context.constant(0)
        for powers, coefficient in terms:
            term = self.context.constant(fmpq(int(coefficient.p), int(coefficient.q)))
            for letter, power in zip(letters, powers, strict=True):
                term = term * self.generator[str(letter)] ** power
            total = total + term
        return total

    # -- products, names, quotients ----------------------------------------------------------------

    def product(self, x: Any, y: Any) -> _Number:
        """A product, in which what is zero is left out; of names, where it would become too long."""
        if self.longest is None and len(x) * len(y) > PRODUCTS:
            raise SizeError(
                "closed form",
                f"a product has more than {PRODUCTS:,} terms",
                "prove it of fewer bodies, by abm and crbm, which divide least, or give the bodies fewer "
                "numbers that are not zero",
            )
        while self.longest is not None and len(x) * len(y) > self.longest and max(len(x), len(y)) > 1:
            x, y = sorted((x, y), key=len)
            y = self.named(y)
        value = x * y
        degrees = value.degrees()
        for at, least, zero in self._zeros:
            if degrees[at] >= least:
                value = divmod(value, zero)[1]
                degrees = value.degrees()
        return self.kept(value)

    def kept(self, value: Any) -> _Number:
        long = self.longest is not None and len(value) > self.longest
        return _Number(self, self.named(value) if long else value)

    def named(self, value: Any) -> Any:
        """The letter x_i that stands for a polynomial from now on."""
        key = str(value)
        if key in self._known:
            return self.generator[self._known[key]]
        count = len(self._known)
        if count == len(self._parts):
            raise SizeError(
                "closed form",
                f"{count} parts of {self.longest} terms are not enough",
                "give the model's numbers with letters='state', or fewer bodies",
            )
        self.defined[self._parts[count]] = value
        self._known[key] = self._parts[count]
        return self.generator[self._parts[count]]

    def inverse(self, value: Any) -> Any:
        """1 / value: of a number, or the letter that stands for it.  Raises ZeroDivisionError."""
        if value == 0:
            raise ZeroDivisionError
        if value.is_constant():
            return self.context.constant(1 / value.leading_coefficient())
        known = self._divisors()
        for name in known:
            for sign in (1, -1):
                if sign * value == self.defined[name]:
                    return sign * self.generator[name]
        if len(known) == len(self._inverses):
            raise SizeError(
                "closed form",
                f"the order divides by more than {len(known)} pivots, or weights of rotated rows",
                "use abm or crbm",
            )
        name = self._inverses[len(known)]
        self.defined[name] = value
        self._zeros.append((self.letters.index(name), 1, value * self.generator[name] - 1))
        return self.generator[name]

    def _divisors(self) -> list[str]:
        """Letters of the inverses that are known so far."""
        return [name for name in self._inverses if name in self.defined]

    def is_zero(self, value: Any) -> bool:
        """Whether a polynomial is zero once what it is divided by has been multiplied out."""
        for name in reversed(self._divisors()):
            at = self.letters.index(name)
            most = max(value.degrees()[at], 0)  # of zero, which has none, it is less
            parts: list[dict[tuple[int, ...], Any]] = [{} for _ in range(most + 1)]
            for powers, coefficient in value.to_dict().items():
                parts[powers[at]][(*powers[:at], 0, *powers[at + 1 :])] = coefficient
            value = self.context.from_dict(parts[0])
            for part in parts[1:]:
                value = self.product(value, self.defined[name]).value + self.context.from_dict(part)
        return bool(self.product(value, self.context.constant(1)).value == 0)

    def turned(self, value: Any, function: str) -> _Number:
        """The sine or cosine of a letter q_k, or of -q_k."""
        name = str(value).removeprefix("-").removeprefix("q_")
        turn = self.generator[f"{function} {name}"]
        return _Number(self, -turn if str(value).startswith("-") and function == "sin" else turn)

    # -- into sympy ---------------------------------------------------------------------------------

    def name_pivots(self, tape: Tape, pivots: dict[int, NDArray[Any]]) -> None:
        """Names for what is divided by: D_k, D_kx ... where joint k has several; E_i for all others."""
        import sympy

        known: dict[str, str] = {}
        labels = dict(zip(tape.inputs.names, _labels(self.tree), strict=True))
        for i, values in pivots.items():
            block = tape.program.pivots[i].blocks[0]
            for j, x in enumerate(values.ravel() if block.kind == "qdd" else ()):
                name = f"D_{labels[block.body]}" + ("xyzuvw"[j] if values.size > 1 else "")
                known |= {str(x.value): name, str(-x.value): name}
        for name in self._divisors():
            other = f"E_{int(name[2:]) + 1}"
            self.symbol[name] = 1 / sympy.Symbol(known.get(str(self.defined[name]), other))

    def definitions(self) -> Iterator[tuple[sympy.Symbol, sympy.Expr]]:
        for name, value in self.defined.items():
            symbol = self.symbol[name]
            yield (symbol if symbol.is_Symbol else 1 / symbol), self.expression(value)

    def shown(self, x: _Number) -> sympy.Expr:
        """A result; of a part, what it stands for."""
        return self.expression(self.defined.get(str(x.value), x.value))

    def expression(self, value: Any) -> sympy.Expr:
        """A polynomial in sympy: what is over the same pivots together, and in factors."""
        import sympy

        bases = [self.symbol[name] for name in self.letters]
        below = np.array([base.is_Pow for base in bases])

        def product(powers: NDArray[Any]) -> sympy.Expr:
            return sympy.Mul(*(bases[i] ** int(powers[i]) for i in np.flatnonzero(powers)))

        over: dict[tuple[int, ...], list[tuple[NDArray[Any], Any]]] = {}
        for powers, coefficient in value.to_dict().items():
            here = np.array(powers, dtype=int)
            over.setdefault(tuple(here * below), []).append((here * ~below, coefficient))
        total = []
        for divisor, terms in over.items():
            common = np.min([powers for powers, _ in terms], axis=0)
            numbers = [sympy.Rational(int(c.p), int(c.q)) for _, c in terms]
            parts = [c * product(x - common) for c, (x, _) in zip(numbers, terms, strict=True)]
            total.append(product(np.array(divisor) + common) * sympy.Add(*parts))
        return sympy.Add(*total)


class _Number:
    """A polynomial, with the operations of kinematics and tapes."""

    __slots__ = ("ring", "value")

    def __init__(self, ring: _Ring, value: Any) -> None:
        self.ring, self.value = ring, value

    def __add__(self, other: Any) -> _Number:
        return self.ring.kept(self.value + self.ring.value(other))

    def __sub__(self, other: Any) -> _Number:
        return self.ring.kept(self.value - self.ring.value(other))

    def __rsub__(self, other: Any) -> _Number:
        return self.ring.kept(self.ring.value(other) - self.value)

    def __mul__(self, other: Any) -> _Number:
        return self.ring.product(self.value, self.ring.value(other))

    def __truediv__(self, other: Any) -> _Number:
        return self.ring.product(self.value, self.ring.inverse(self.ring.value(other)))

    def __neg__(self) -> _Number:
        return _Number(self.ring, -self.value)

    def sin(self) -> _Number:
        return self.ring.turned(self.value, "sin")

    def cos(self) -> _Number:
        return self.ring.turned(self.value, "cos")

    __radd__, __rmul__ = __add__, __mul__
