"""The program as scalar operations, and the one place that plays them in a number format."""

from .inputs import InputSlots
from .run import played, rounded_into, run_floats, run_objects
from .tape import Tape, lower

__all__ = ["InputSlots", "Tape", "lower", "played", "rounded_into", "run_floats", "run_objects"]
