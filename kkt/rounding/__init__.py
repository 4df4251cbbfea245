"""Effects of rounding, operation by operation: cancellation, and derivatives."""

from .observe import Watch, observe, seen

__all__ = ["Watch", "observe", "seen"]
