"""Many states of one robot: drawn at random, and the answers of orders and formats there."""

from .sample import draw, ranges_of, system_at

__all__ = ["draw", "ranges_of", "system_at"]
