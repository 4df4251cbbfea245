"""Forward dynamics as programs ship it: MuJoCo, MJX, Newton, Pinocchio and others on equation (4)."""

from .readings import Fault, Reading, advice, compare_as, error, fault, get, readings

__all__ = ["Fault", "Reading", "advice", "compare_as", "error", "fault", "get", "readings"]
