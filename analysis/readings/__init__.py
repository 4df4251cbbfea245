"""Forward dynamics as programs ship it: MuJoCo, MJX, Newton, Pinocchio and others on equation (4)."""

from .readings import Reading, advice, compare_as, error, get, readings

__all__ = ["Reading", "advice", "compare_as", "error", "get", "readings"]
