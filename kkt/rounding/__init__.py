"""Effects of rounding, operation by operation: cancellation, shares of the error, derivatives."""

from .contributions import linearised
from .observe import Watch, observe, seen

__all__ = ["Watch", "linearised", "observe", "seen"]
