"""The program as scalar operations, and the one place that plays them in a number format."""

from typing import TYPE_CHECKING

from ..base.lazy import lazily

if TYPE_CHECKING:
    from .inputs import InputSlots
    from .run import played, rounded_into, run_floats, run_objects
    from .tape import Tape, lower

WHERE = {"inputs": "InputSlots", "run": "played rounded_into run_floats run_objects", "tape": "Tape lower"}

__all__ = ["InputSlots", "Tape", "lower", "played", "rounded_into", "run_floats", "run_objects"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazily(__name__, WHERE)
