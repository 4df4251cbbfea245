"""What every row of a sweep shares, and the columns that can be measured."""

from __future__ import annotations

from dataclasses import dataclass

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
    def together(self) -> bool:
        """Whether many states are measured at a time: no kappa is asked."""
        alone = {"kappa", "kappa_inertia"} & set(self.measures)
        return self.random and not alone

    @property
    def columns(self) -> tuple[str, ...]:
        return ("key", "model", *self.ranges, "order", "format", "state", "seed", *self.measures)
