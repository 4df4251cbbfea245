"""Gallery specs: a builder's name and its arguments as one text, such as ``chain:100``."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from ..base.errors import ModelError, nearest
from ..base.kinds import of_kind

if TYPE_CHECKING:
    import networkx as nx

    Builder = Callable[..., nx.DiGraph]

EXAMPLES = {
    "chain": "chain:100",
    "star": "star:20",
    "binary": "binary:6",
    "comb": "comb:10",
    "random_tree": "random_tree:n=50,seed=1",
    "featherstone": "featherstone:20,branching=2",
    "two_link": "two_link:r=0.002",
    "example1": "example1:q1=0.5",
    "example2": "example2:m1=1e6",
    "example3": "example3:m1=1e8,case=2",
    "rr_arm": "rr_arm",
    "quadruped": "quadruped:feet=4",
    "humanoid": "humanoid",
    "four_bar": "four_bar:angle=0.5",
    "stewart": "stewart:height=1",
    "delta": "delta:angle=0.2",
    "gripper": "gripper:angle=0.3",
}


@cache
def builders() -> dict[str, Builder]:
    """The function behind each name of the gallery; numpy and networkx are loaded here."""
    from . import gallery, gallery_loops

    known = vars(gallery) | vars(gallery_loops)
    return {name: known[name] for name in EXAMPLES}


def arguments_of(build: Builder) -> dict[str, str]:
    """The arguments that a spec may give, with their defaults as texts; "" where there is none."""
    given = {
        key: parameter.default
        for key, parameter in inspect.signature(build).parameters.items()
        if parameter.annotation in _READERS
    }
    told = {inspect.Parameter.empty: "", "nan": "as it follows from the others"}
    return {key: told.get(x, told.get(str(x), str(x))) for key, x in given.items()}


def _number(text: str) -> float:
    """A float, or a power of ten with a fractional exponent: 1e7.5, 10**7.5, 10^7.5."""
    power = re.fullmatch(r"(?:([-+]?[\d.]+)e|10(?:\*\*|\^))([-+]?\d+\.\d+)", text.strip())
    if power is None:
        return float(text)
    return float(power[1] or 1.0) * 10.0 ** float(power[2])


_READERS: dict[str, Callable[[str], object]] = {"int": int, "float": _number, "str": str}


@of_kind
def from_spec(text: str) -> nx.DiGraph:
    """Build from ``name`` or ``name:value,...,argument=value,...``, as in ``example3:m1=1e8``.

    Raises ModelError for an unknown name or argument and for a value that is not of its kind.

    >>> pt.compile_tree(pt.from_spec("random_tree:n=5,seed=1"))
    <BodyTree random_5_seed_1: 5 bodies, 14 freedoms, joints 1 cylindrical, 1 floating, 1 ...
    """
    name, _, rest = text.strip().partition(":")
    name = name.strip()
    if name not in EXAMPLES:
        told = nearest(name, EXAMPLES)
        if not told.startswith("did you mean"):
            told += f"; an installed robot is written robot:{name}, a file with its suffix"
        raise ModelError(f"gallery: {name!r} is unknown; {told}")
    build = builders()[name]
    known = {
        key: str(parameter.annotation)
        for key, parameter in inspect.signature(build).parameters.items()
        if parameter.annotation in _READERS
    }
    given: dict[str, object] = {}
    for place, item in enumerate(rest.split(",") if rest.strip() else []):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            if place >= len(known):
                takes = f"at most {len(known)} values: {', '.join(known)}" if known else "none"
                raise ModelError(f"gallery: {name} takes {takes}; remove {item.strip()!r}")
            key, value = list(known)[place], key
        if key not in known:
            told = nearest(key, known) if known else "it takes none"
            raise ModelError(f"gallery: {name} has no argument {key!r}; {told}")
        if key in given:
            raise ModelError(f"gallery: {name} is given {key!r} twice; give it once")
        try:
            read = given[key] = _READERS[known[key]](value)
        except (ValueError, OverflowError):
            kind = {"int": "a whole number", "float": "a number"}[known[key]]
            raise ModelError(f"gallery: {name} argument {key!r} is {value!r}; give {kind}") from None
        if isinstance(read, float) and not math.isfinite(read):
            raise ModelError(f"gallery: {name} argument {key!r} is {value}; give a finite number")
    missing = [key for key, x in arguments_of(build).items() if not x and key not in given]
    if missing:
        raise ModelError(
            f"gallery: {name} needs {missing[0]!r}; write {name}:{missing[0]}=... or {name}:VALUE"
        )
    return build(**given)
