"""Effects of rounding, operation by operation: cancellation, shares of the error, derivatives."""

from .contributions import linearised
from .observe import observe, seen
from .watched_run import Watch

__all__ = ["Watch", "linearised", "observe", "seen"]
