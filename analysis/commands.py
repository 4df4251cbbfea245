"""What each command of the command line does."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import kkt
import orderings
from kkt.elimination.certify import decimal
from kkt.elimination.formats import get_format


def run(options: argparse.Namespace) -> int:
    """Run a parsed command; a PivotreeError becomes one line and exit 2."""
    commands: dict[str, Callable[[argparse.Namespace], int]] = {
        "compare": compare,
        "solve": solve,
        "spy": spy,
        "orders": orders,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # what overflows is refused or recorded
        warnings.showwarning = _show_warning
        try:
            return commands[options.command](options)
        except kkt.PivotreeError as error:
            print(f"pivotree: {' '.join(str(error).split())}", file=sys.stderr)
            return 2
        except MemoryError:
            print("pivotree: not enough memory for this model; use a smaller one", file=sys.stderr)
            return 2
        except BrokenPipeError:  # the reader of a pipe has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


def _show_warning(message: Any, category: Any, *rest: Any, **more: Any) -> None:
    print(f"pivotree: warning: {' '.join(str(message).split())}", file=sys.stderr)


def system_of(options: argparse.Namespace) -> kkt.System:
    """The system that the model and the state options ask for."""
    tree = kkt.load(
        options.model, floating=True if options.floating else None, merge_fixed=options.merge_fixed
    )
    tree.graph["name"] = tree.graph.get("name") or options.model
    return kkt.build(
        tree,
        q=_numbers("--q", options.q),
        qd=_numbers("--qd", options.qd),
        tau=_numbers("--tau", options.tau),
    )


def _numbers(option: str, text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(x) for x in text.split(",")] if text.strip() else []
    except ValueError:
        raise kkt.ModelError(
            f"option {option}: {text!r} is no list of numbers; give them as 0.1,0,-2"
        ) from None


@contextmanager
def _progress() -> Any:
    """A function that shows what is being done, on standard error."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    console = Console(stderr=True)
    silent = not console.is_terminal  # a log wants no spinner, and an error is one line
    with Progress(*columns, console=console, transient=True, disable=silent) as bar:
        task = bar.add_task("building the matrix")
        yield lambda text: bar.update(task, description=text)


def compare(options: argparse.Namespace) -> int:
    from .comparison import compare as compare_orders

    folder = None if options.output is None else _folder(_path(options.output))
    names = None if options.orders is None else _list("--orders", options.orders)
    with _progress() as progress:
        system = system_of(options)
        result = compare_orders(
            system, names, _list("--formats", options.formats), progress=progress
        )
        result = replace(result, model=options.model)  # as the user calls it
        if folder is not None:
            from .figures import write_all

            progress("figures")
            files = write_all(result, folder)
    code = 0 if any(row.error is not None for row in result.rows) else 1
    if options.json:
        print(json.dumps(result.as_dict(), indent=1))
        return code
    from .table import comparison_table, console

    out = console(sys.stdout)
    out.print(comparison_table(result, out.width))
    out.print(result.verdict, soft_wrap=True, markup=False)
    if folder is not None:
        out.print(f"{len(files)} figures in {folder}", soft_wrap=True, markup=False)
    return code


def _list(option: str, text: str) -> list[str]:
    items = [item.strip() for item in text.split(",") if item.strip()]
    if not items:
        raise kkt.PivotreeError(f"option {option}: is empty; give names separated by commas")
    return items


def _path(text: str) -> Path:
    if not text.strip():
        raise kkt.PivotreeError("option -o: is empty; give a name")
    return Path(text)


def _folder(path: Path) -> Path:
    """A folder that can be written to, made where it is missing, before any long work."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".pivotree-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise kkt.PivotreeError(
            f"output folder {path}: cannot be written ({error.strerror}); give another with -o"
        ) from None
    return path


def solve(options: argparse.Namespace) -> int:
    from .comparison import digits_of, reference

    chosen = get_format(options.format)
    function = orderings.get(options.order)
    with _progress() as progress:
        system = system_of(options)
        progress(f"tracing {options.order}")
        tape = kkt.trace(system, function)
        progress(f"certified answer for {chosen.name}")
        exact = reference(system, chosen)
        progress(f"{options.order} in {chosen.name}")
        result = kkt.eliminate(system, tape, chosen, records=False)
    if result.failed_at:
        raise kkt.SingularError(
            f"order {result.order!r} in {chosen.name}: {result.failed_at}; "
            "use another order or a longer format"
        )
    error = exact.error(result.qdd)
    count = chosen.digits or 50
    values = [float(x) if chosen.kind == "float" else decimal(x, count) for x in result.qdd]
    if options.json:
        document = {
            "model": options.model,
            "order": result.order,
            "format": chosen.name,
            "qdd": values,
            "error": error,
            "certified_digits": exact.digits,
        }
        print(json.dumps(document, indent=1))
        return 0
    places = 9 if chosen.name == "float32" else 17
    at = 0
    for name, dof in zip(system.tree.names, system.tree.dof, strict=True):
        for j in range(dof):
            text = f"{values[at]:.{places}g}" if chosen.kind == "float" else values[at]
            print(f"{name}{f'[{j}]' if dof > 1 else ''}\t{text}")
            at += 1
    kept = digits_of(error, chosen)
    print(
        f"{result.order} in {chosen.name}: error {error:.1e} ({kept:.1f} digits) against "
        f"{exact.digits} certified digits, {result.flops:,} operations"
    )
    return 0


def spy(options: argparse.Namespace) -> int:
    from .figures import save_spy

    function = orderings.get(options.order)
    system = system_of(options)
    symbolic = kkt.symbolic(kkt.plan(function, system.structure))
    steps = symbolic.plan.groups
    if options.step is not None and not 0 <= options.step <= steps:
        raise kkt.OrderError(
            f"option --step: {options.step} is outside this order's steps; use 0 to {steps}"
        )
    save_spy(symbolic, _path(options.output), step=options.step, dark=options.dark)
    return 0


def orders(options: argparse.Namespace) -> int:
    rows = [
        (
            name,
            (function.__doc__ or "").strip().splitlines()[0],
            str(getattr(function, "source", "")),
        )
        for name, function in orderings.ORDERS.items()
    ]
    if options.json:
        keys = ("order", "what", "source")
        print(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], indent=1))
        return 0
    from .table import console, orders_table

    console(sys.stdout, wide=True).print(orders_table(rows))
    return 0
