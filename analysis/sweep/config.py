"""What a sweep is: a TOML file, read and checked before any work."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path

from pivotree import orderings
from pivotree.kkt import PivotreeError
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.base.reading import read_bytes

from .models import Fields, Model, document, models_of

MEASURES = (
    "error",  # max |qdd - exact| / max |exact|, exact for the data rounded to the format
    "digits",  # that it leaves: -log10, between 0 and what the format holds
    "backward_error",  # of the answer in (4), normwise
    "marked",  # why the answer should not be relied on, though there is one
    "error_with_data",  # against the exact answer for the data in float64
    "digits_with_data",
    "error_of_data",  # of the exact answer, by rounding the data alone
    "failed_as",  # why there is no answer, the same words for all pivots and bodies
    "kappa",  # condition number of qdd
    "kappa_inertia",  # of the joint-space inertia
    "fill",  # blocks
    "fill_entries",
    "flops",  # operations that qdd takes
    "height",  # of the elimination tree
    "bodies",
    "dof",
    "drawn_again",  # draws before the state's that led to none with closed loops
    "failed_at",  # why there is no answer
)
WHOLE = ("error_with_data", "digits_with_data", "error_of_data")  # need more


@dataclass(frozen=True)
class Settings:
    """What every row of a sweep shares; goes with each piece of work."""

    orders: tuple[str, ...]
    formats: tuple[str, ...]
    measures: tuple[str, ...]
    random: bool  # states drawn at random, or each model's own
    seed: int
    ranges: tuple[str, ...]  # names, one column each

    @property
    def runs(self) -> bool:
        """Whether some column needs an elimination in numbers."""
        wanted = {"error", "digits", "backward_error", "marked", "failed_as", "failed_at", *WHOLE}
        return bool(wanted & set(self.measures))

    @property
    def columns(self) -> tuple[str, ...]:
        return ("key", "model", *self.ranges, "order", "format", "state", "seed", *self.measures)


USUAL = ["error", "digits", "backward_error", "marked", "fill", "flops", "failed_at"]
DISTRIBUTIONS = ("random", "given")
MOST_STATES = 10_000_000


@dataclass(frozen=True)
class Config:
    """A sweep: its cases are models x states x orders x formats, in this sequence."""

    path: Path
    settings: Settings
    models: tuple[Model, ...]
    states: int
    output: Path
    order_digests: tuple[str, ...]


def read_config(path: Path) -> Config:
    """A sweep from its TOML file; relative paths in it start where the command is run.

    Raises PivotreeError, one sentence, for a file or a field that is wrong.

    >>> from pathlib import Path
    >>> from pivotree.analysis.sweep import read_config
    >>> lines = ['output = "s.csv"', 'models = ["chain:3"]', 'orders = ["crbm", "abm"]', "[states]"]
    >>> _ = Path("sweep.toml").write_text("\\n".join([*lines, "number = 5"]))
    >>> read_config(Path("sweep.toml")).states
    5
    """
    fields = Fields(path, document(path))
    output = Path(fields.text("output"))
    if output.suffix != ".csv":
        raise fields.wrong("output", str(output), "a name that ends in .csv")
    found = models_of(fields)
    orders = tuple(fields.names("orders"))
    formats = tuple(fields.names("formats", ["float32", "float64"]))
    measures = tuple(fields.names("measure", USUAL))
    states = Fields(path, fields.take("states", {"distribution": "given"}), "states")
    random = states.one_of("distribution", "random", DISTRIBUTIONS) == "random"
    number, seed = states.whole("number", 1, 1, MOST_STATES), states.whole("seed", 0, 0)
    states.done()
    fields.done()
    if not random and number > 1:
        raise states.wrong("number", number, "1, a model's own state, or distribution = 'random'")
    for i, name in enumerate(measures):
        if name not in MEASURES:
            raise fields.wrong(f"measure[{i}]", name, f"one of {', '.join(MEASURES)}")
    digests = tuple(_digest(fields, i, name) for i, name in enumerate(orders))
    for i, name in enumerate(formats):
        try:
            chosen = get_format(name)
        except PivotreeError as error:
            raise PivotreeError(f"{path}: formats[{i}]", error) from None
        if chosen.kind != "float" or chosen.name != name:
            right = "a floating-point format of fixed precision, by its own name"
            raise fields.wrong(f"formats[{i}]", name, right)
    ranges = dict.fromkeys(name for models in found for model in models for name, _ in model.values)
    settings = Settings(orders, formats, measures, random, seed, tuple(ranges))
    for name in ranges:
        if settings.columns.count(name) > 1:
            raise PivotreeError(path, f"range {name!r} has the name of a column", "give it another name")
    every = tuple(chain.from_iterable(found))
    return Config(path, settings, every, number, output, digests)


def _digest(fields: Fields, i: int, name: str) -> str:
    """What the order in a field is, checked."""
    try:
        order = orderings.get(name)
    except PivotreeError as error:
        raise PivotreeError(f"{fields.path}: orders[{i}]", error) from None
    if order.problem != "qdd":
        raise fields.wrong(f"orders[{i}]", name, "an order that solves for qdd")
    return order_digest(name)


def order_digest(name: str) -> str:
    """What an order is: its name, and the content of its file where it has one."""
    file = Path(name.rpartition(":")[0] if ".py:" in name else name)
    if file.suffix not in (".py", ".json"):
        return name
    return f"{name} {sha256(read_bytes(file)).hexdigest()}"
