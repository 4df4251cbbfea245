"""A bracketed sequence of pivots: what an order returns, and the switches that decide rounding."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import WRAPPER_ASSIGNMENTS
from typing import Any

from .. import order as room
from ..base.errors import OrderError, unfit
from ..base.foreign import foreign
from ..matrix.blocks import LINKS, Block, Structure


@dataclass(frozen=True)
class Rules:
    """The switches that decide rounding: what is added to what first.

    couple       "inverse": the bracket's inverse is formed by itself, then meets the couplings;
                 "carried": the couplings take part in every pivot inside the bracket
    assembly     "multifrontal": a child's update is summed apart and added to the parent last;
                 "right_looking": every pivot subtracts from the remaining matrix at once
    accumulate   "assembled", or "unassembled": D_k = H M H* + H M~ H*, eq (11) of Ascher 1996, or
                 "projected": D_k = H M H* + sum of E M~ E* over the children, E of eq (10);
                 "child_frame": w* Mbar w in place of H M~ H*, w = Phi* H* in the child's frame
    rank_update  "outer": (c c*)/d; "gain": (c/d) c*; "joseph": in brackets, and as outer elsewhere,
                 Mbar = (1 - K H) M^ (1 - K H)* with K = M^ H* D^-1 (Bucy & Joseph 1968)
    symmetry     "mirrored": of a symmetric block the upper triangle is formed, and copied; "both
                 triangles": each is formed by itself, and rounding makes them differ
    elimination  "gauss", or "orthogonal": ABM's brackets by rotations of weighted rows, for which
                 the other switches mean nothing

    >>> pt.Rules(couple="carried")
    Rules(couple='carried', assembly='multifrontal', accumulate='assembled', ...
    """

    couple: str = "inverse"
    assembly: str = "multifrontal"
    accumulate: str = "assembled"
    rank_update: str = "outer"
    symmetry: str = "mirrored"
    elimination: str = "gauss"

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise OrderError(f"order: switch {name!r} is {value!r}; use {' or '.join(choices)}")
        defaults = {name: choices[0] for name, choices in _CHOICES.items()}
        other = {n for n in defaults if getattr(self, n) != defaults[n]} - {"elimination"}
        if self.elimination == "orthogonal" and other:
            raise OrderError(
                f"order: switch {min(other)!r} means nothing to elimination 'orthogonal'; leave it out"
            )


_CHOICES = {  # the default first
    "couple": ("inverse", "carried"),
    "assembly": ("multifrontal", "right_looking"),
    "accumulate": ("assembled", "unassembled", "projected", "child_frame"),
    "rank_update": ("outer", "gain", "joseph"),
    "symmetry": ("mirrored", "both triangles"),
    "elimination": ("gauss", "orthogonal"),
}


COMPOSITES = ("counted", "general", "rigid", "centre")  # the default first
TEN = ("rigid", "centre")  # formed as ten numbers


@dataclass(frozen=True)
class PivotSequence:
    """Groups of blocks in elimination order, with the switches that decide rounding.

    Inertias behind which no joint has been eliminated are ten numbers each.  By ``composites``
    "counted" they are formed as 6 x 6 blocks, which every number type can, and operations are
    counted as ten numbers take them; "general" forms and counts blocks, "rigid" and "centre" form
    and count ten numbers (:mod:`kkt.program.tracer`).

    >>> groups = [[("pdd", "j1"), ("qdd", "j1"), ("f", "j1")]]
    >>> mine = pt.PivotSequence(groups, name="mine", source="a notebook")
    >>> pt.eliminate(pt.build(pt.chain(1)), mine).fill
    0
    """

    groups: Sequence[Sequence[Block | tuple[str, Hashable]]]
    name: str = "order"
    source: str = ""
    rules: Rules = field(default_factory=Rules)
    links: str = "whole"  # blocks are those of Structure.with_links(links)
    composites: str = "counted"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or unfit(self.name) is not None:
            why = unfit(str(self.name)) or "is no text"
            raise OrderError(f"order {self.name!r}: its name {why}; give it another")
        if not isinstance(self.groups, Iterable) or isinstance(self.groups, str):
            told = f"order {self.name!r}: groups are {self.groups!r}"
            raise OrderError(f"{told}; give a list of lists of blocks")
        if not isinstance(self.source, str):
            raise OrderError(f"order {self.name!r}: source is {self.source!r}; give a text")
        if not isinstance(self.rules, Rules):
            raise OrderError(f"order {self.name!r}: rules are {self.rules!r}; give kkt.Rules(...)")
        if self.links not in LINKS:
            raise OrderError(f"order {self.name!r}: links are {self.links!r}; use {', '.join(LINKS)}")
        if self.composites not in COMPOSITES:
            raise OrderError(
                f"order {self.name!r}: composites is {self.composites!r}; use {' or '.join(COMPOSITES)}"
            )
        if self.rules.symmetry != "mirrored" and self.composites in TEN:
            raise OrderError(
                f"order {self.name!r}: composites {self.composites!r} are ten numbers, which have no second "
                "triangle; leave symmetry out, or give composites 'counted'"
            )


OrderFunction = Callable[[Structure], "PivotSequence | Iterable[Any]"]
OrderLike = PivotSequence | OrderFunction | str | Iterable[Any]  # by itself, its name, or its groups


@dataclass(frozen=True, eq=False)
class Order:
    """A function from a structure to groups of blocks, with what is known of it on every tree.

    It is called as its function is, and has the function's name in Python, text and module.

    >>> abm = pt.orderings.get("abm")
    >>> abm.name, abm.problem, abm.rules.couple
    ('abm', 'qdd', 'inverse')
    >>> abm(pt.build(pt.chain(1)).structure)
    [[('pdd', 'j1'), ('qdd', 'j1'), ('f', 'j1')]]
    """

    function: OrderFunction = field(repr=False)
    name: str
    source: str = ""
    rules: Rules = field(default_factory=Rules)
    links: str = "whole"
    composites: str = "counted"
    problem: str = "qdd"  # what is solved for; "tau": inverse dynamics
    loops: bool = False  # whether it places the multipliers of loops

    def __post_init__(self) -> None:
        named = {key for key in WRAPPER_ASSIGNMENTS if hasattr(self.function, key)}
        vars(self).update({key: getattr(self.function, key) for key in named}, __wrapped__=self.function)

    def __call__(self, structure: Structure) -> Any:
        return self.function(structure)

    def __reduce__(self) -> str:
        return str(getattr(self.function, "__qualname__", self.name))  # pickled as functions are: by name


def as_order(given: Any) -> Order:
    """An order as it is or by its name; a function, a sequence or a list of groups as one.

    Raises OrderError.
    """
    if isinstance(given, str):
        given = room.find(given)
    if isinstance(given, Order):
        return given
    if isinstance(given, PivotSequence):
        return Order(lambda _: given, given.name, given.source, given.rules, given.links, given.composites)
    with foreign("order"):
        if callable(given):
            return Order(given, str(getattr(given, "__name__", "order")))
    return Order(lambda _: given, "order")


def as_sequence(order: Any, structure: Structure) -> PivotSequence:
    """What an order, a plain function or a list of groups says of a structure.  Raises OrderError."""
    order = as_order(order)
    name = order.name
    if order.problem != "qdd":
        raise OrderError(
            f"order {name!r}: solves for tau with qdd known (kkt.inverse_dynamics runs it); "
            "use one that solves for qdd, such as abm"
        )
    with foreign(f"order {name!r}"):
        returned = order(structure)
        if isinstance(returned, PivotSequence):
            return replace(returned, name=name) if returned.name == "order" else returned
        if not isinstance(returned, Iterable):
            raise OrderError(_no_groups(name, returned))
        groups = []
        for group in returned:
            if not isinstance(group, Iterable):
                raise OrderError(_no_groups(name, returned))
            groups.append(list(group))
    return PivotSequence(groups, name, order.source, order.rules, order.links, order.composites)


def _no_groups(name: str, returned: Any) -> str:
    return (
        f"order {name!r}: returns {type(returned).__name__}; "
        "return a list of groups, each a list of blocks such as ('pdd', body)"
    )
