"""What the commands share: options, models, folders."""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pivotree import kkt, orderings
from pivotree.kkt import base
from pivotree.kkt.arithmetic import get_format

from ..limits import PAIRED, refuse

if TYPE_CHECKING:
    import networkx as nx


def tree_of(options: argparse.Namespace, load: Callable[..., Any] | None = None) -> nx.DiGraph[Any]:
    """The model that the options name; links on fixed joints are merged unless they are kept."""
    given, model = reading(options.urdf or ()), options.model
    urdf = model.startswith("robot:") or Path(model).suffix.lower() in (".urdf", ".xacro")
    if not (urdf or given["merge_fixed"]):
        what = "is no .urdf or .xacro file, which alone takes keep-fixed"
        raise kkt.ModelError(model, what, "leave it out")
    tree = (load or kkt.load)(model, **given)
    tree.graph["name"] = tree.graph.get("name") or options.model
    beside = [*tree.graph.get("loops", ()), *_loops_of(options, tree)]
    return tree if not beside else type(tree)(tree, loops=beside)


def _loops_of(options: argparse.Namespace, tree: nx.DiGraph[Any]) -> tuple[kkt.Loop, ...]:
    """What ``--contact`` and ``--loops`` say; none where a command has none."""
    told, file = getattr(options, "contact", None), getattr(options, "loops", None)
    if file is not None and not file.strip():
        raise kkt.PivotreeError("option --loops", "is empty", "give a file of loops")
    read = () if file is None else kkt.read_loops(file, tree)
    if told is None:
        return tuple(read)
    from ..loops import contacts_of, size_of

    bodies, soft, compliance = told.partition(",compliance=")
    mu = size_of(compliance, "--contact", "compliance; give zero or more [1/kg]") if soft else 0.0
    return (*read, *contacts_of(tree, bodies, mu))


#: what a command takes of a matrix, too; all other options are of robots
OF_MATRICES = {"command", "run", "given", "model", "order", "format", "json", "yes"}


def matrix_of(options: argparse.Namespace, *taken: str) -> kkt.Matrix | None:
    """The matrix of a Matrix Market file, where the model is one; ``taken`` are further options.

    An order that was not given is minimum_degree, where a command has one.
    Raises PivotreeError for an option that only robots take, and SizeError for too many rows.
    """
    if not str(options.model).endswith(".mtx"):
        return None
    for name, value in vars(options).items():
        if name not in OF_MATRICES and name not in taken and value not in (None, False, "0", "given", [], ()):
            option = {"output": "-o", "readings": "--as", "reading": "--as"}.get(name)
            option = option or f"--{name.replace('_', '-')}"
            raise kkt.PivotreeError(
                f"option {option}", f"is of robots, and {options.model} is a matrix", "leave it out"
            )
    if getattr(options, "order", None) is not None and "order" not in vars(options).get("given", ()):
        options.order = "minimum_degree"
    from pivotree.kkt.solution.matrix import matrix  # kkt.matrix is a room

    found = matrix(options.model)
    n, entries = found.structure.n, found.structure.pairs.shape[1]
    least = n**2 + entries**2 / n  # Cauchy and Schwarz: of columns' squares, whatever the order
    refuse(options, PAIRED * least, "", "use a smaller matrix, or larger blocks in pt.matrix")
    return found


def refuse_beside(option: str, why: str, options: argparse.Namespace, **names: str) -> None:
    """Raise PivotreeError for options that do not go with another: their fields, and what they are called."""
    for name, called in names.items():
        value, given = getattr(options, name), name in vars(options).get("given", ())
        if (given or value is True or isinstance(value, list)) and value not in ("0", "given"):
            raise kkt.PivotreeError(f"option {option}", why, f"leave out {called}")


URDF = "floating, dynamics, keep-fixed, mimic=HOW, NAME:=VALUE or package:NAME=FOLDER"


def reading(texts: Iterable[str]) -> dict[str, Any]:
    """What ``--urdf`` says of how a file is read, as :func:`kkt.load` takes it."""
    found: dict[str, Any] = {"merge_fixed": True, "packages": {}, "arguments": {}}
    for text in texts:
        if ":=" in text or text.startswith("package:"):
            package = text.startswith("package:")
            name, _, value = text.removeprefix("package:").partition("=" if package else ":=")
            known = found["packages" if package else "arguments"]
            if not name or name in known or "=" not in text:
                twice = f"names {name!r} twice" if name in known else f"{text!r} is no name and value"
                raise kkt.PivotreeError("option --urdf", twice, f"give {URDF}")
            known[name] = value
            continue
        for item in (part.strip() for part in text.split(",")):
            if item not in ("floating", "dynamics", "keep-fixed") and not item.startswith("mimic="):
                raise kkt.PivotreeError("option --urdf", f"{item!r} is unknown", f"give {URDF}")
            if item.startswith("mimic=") and "mimic" in found:
                raise kkt.PivotreeError("option --urdf", "gives mimic twice", "give it once")
            found |= {"merge_fixed": False} if item == "keep-fixed" else {}
            found |= {item: True} if item in ("floating", "dynamics") else {}
            found |= {"mimic": item.removeprefix("mimic=")} if item.startswith("mimic=") else {}
    return found


def system_of(options: argparse.Namespace) -> kkt.System:
    """The system that the model and the state options ask for."""
    return system_and_state(options)[0]


def system_in_state(tree: nx.DiGraph[Any], options: argparse.Namespace) -> tuple[kkt.System, str]:
    """Equation (4) in the state that the options ask for, and what that state is called.

    Raises ModelError for a loop that is open there.  Baumgarte's terms may close an open one in time:
    of that there is a LoopWarning.
    """
    values: dict[str, Any] = {}
    names = dict(tree.graph.get("state_formulas", {}))
    own = "the model's own q, qd and tau" if not names else ""
    if options.q is not None or options.state:
        from ..state import values_in_words

        values, names, own = values_in_words(tree, options, names, own)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        system = kkt.build(tree, **values)
    if system.state.loops:
        from ..loops import require_closed

        require_closed(system)
    for warning in said:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    told = [own] * bool(own) + [f"{field} = {names[field]}" for field in ("q", "qd", "tau") if field in names]
    counted = " for freedom k" if any("k)" in text for text in told) else ""
    return system, ", ".join(told) + counted


def system_and_state(options: argparse.Namespace) -> tuple[kkt.System, str]:
    """The system that the options ask for, and what its state is called."""
    frames = one_of("--frames", getattr(options, "frames", "given"), ("given", "aligned", "factored"))
    tree = tree_of(options)
    tree = kkt.factored(tree) if frames == "factored" else tree
    system, state = system_in_state(tree, options)
    return (kkt.aligned(system) if frames == "aligned" else system), state


def state_document(system: kkt.System, told: str) -> dict[str, Any]:
    """The fields of a JSON document that say in which state it is: what ``--state`` reads, and words."""
    numbers = {field: getattr(system.state, field) for field in ("q", "qd", "tau")}
    return {"state": told} | {field: np.asarray(x, dtype=float).tolist() for field, x in numbers.items()}


def system_of_any(tree: nx.DiGraph[Any]) -> kkt.System:
    """The system of a command without options of a state: the model's own, or a closed one.

    Raises LoopError for loops that are open in the model's own state, and for which none is found.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kkt.LoopWarning)
        system = kkt.build(tree)
    from ..loops import left_open

    if left_open(system) is None:
        return system
    from ...states.sample import drawn_system

    return drawn_system(tree, 0)[0]


def one_state(model: str, state: str) -> str:
    """That numbers are of one state, and how to see others."""
    return f"This is one state: {state}. Others: --q or --state; for many: pivotree report {model}"


def written(path: Path) -> str:
    """A file, and its size in bytes."""
    size = path.stat().st_size
    return f"{path} ({size:,} bytes)" if size < 10_000 else f"{path} ({size / 1000:,.0f} kB)"


def refinement(options: argparse.Namespace) -> tuple[int, str]:
    """Corrections asked for, and of which residual, or one sentence."""
    count, colon, residual = options.refine.partition(":")
    if count == "0" and not colon:
        return 0, "dynamics"
    from pivotree.kkt.solution.eliminate import CORRECTIONS, RESIDUALS

    where = "option --refine"
    digits = count.isascii() and count.isdecimal() and len(count) <= len(str(CORRECTIONS))
    if not digits or int(count) > CORRECTIONS:
        raise kkt.OrderError(where, f"{count} is no number of corrections", f"use 0 to {CORRECTIONS}")
    residual = residual if colon else "dynamics"
    if residual not in RESIDUALS:
        raise kkt.OrderError(where, f"{residual!r} is no residual", f"use {' or '.join(RESIDUALS)}")
    return int(count), residual


def items(option: str, text: str) -> list[str]:
    items = [item.strip() for item in text.split(",") if item.strip()]
    if not items:
        raise kkt.PivotreeError(f"option {option}", "is empty", "give names separated by commas")
    return items


def names_of(option: str, text: str) -> list[str]:
    """Names that an option gives, each once."""
    names = items(option, text)
    for name in names:
        if names.count(name) > 1:
            raise kkt.PivotreeError(f"option {option}", f"names {name!r} twice", "name each once")
    return names


def orders_of(options: argparse.Namespace, usual: str | None = None) -> list[str] | None:
    """The names that ``--order`` gives, or the ``usual`` ones, all known: refused before any work."""
    text = usual if options.order is None else options.order
    names = None if text is None else names_of("--order", text)
    for name in names or ():
        orderings.get(name)
    return names


def formats_of(options: argparse.Namespace) -> list[str]:
    """The same of ``--format``."""
    names = names_of("--format", options.format)
    for name in names:
        get_format(name)
    return names


def one_of(option: str, value: str, known: Iterable[str]) -> str:
    """A value that an option has; else PivotreeError names those there are."""
    *most, last = known
    if value not in (*most, last):
        raise kkt.PivotreeError(
            f"option {option}", f"{value!r} is unknown", f"use {', '.join(most)} or {last}"
        )
    return value


def print_json(document: Any) -> None:
    """One JSON document on standard output; a number that JSON has no name for is null."""
    print(json.dumps(_finite(document), indent=1, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def draw(folder: Path, figures: Callable[[str], Mapping[str, Any]]) -> None:
    """Figures by their names, those of a light style as .png and .pdf, of a dark one as .png."""
    from ...figures import save

    for style, ending, suffixes in (("light", "", (".png", ".pdf")), ("dark", "_dark", (".png",))):
        for name, figure in figures(style).items():
            for suffix in suffixes:
                save(figure, base.made(folder) / f"{name}{ending}{suffix}")


def file_of(text: str, what: str = "", endings: tuple[str, ...] = ()) -> Path:
    """A file that can be written, seen before any long work; ``what`` has one of these endings."""
    path = _asked(base.check_file, text)
    if endings and path.suffix not in endings:
        told = f"give a name that ends in {' or '.join(endings)}"
        raise kkt.FormatError("option -o", f"{path} is no {what}", told)
    return path


def folder_of(text: str) -> Path:
    """A folder that can be made or written to, seen before any long work."""
    return _asked(base.check_folder, text)


def _asked(check: Callable[[str], Path], text: str) -> Path:
    if not text.strip():
        raise kkt.PivotreeError("option -o", "is empty", "give a name")
    try:
        return check(text)
    except kkt.FormatError as error:
        raise kkt.FormatError("option -o", error) from None
