"""Settings of the papers' items that cannot be, told in one sentence."""

from .item import above, between, each

__all__ = ["above", "between", "each"]
