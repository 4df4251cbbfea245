"""Forward dynamics as programs ship it: MuJoCo, MJX, Newton, Pinocchio and others on equation (4)."""

from .fault import Fault, fault
from .readings import Reading, advice, compare_as, error, get, readings

__all__ = ["Fault", "Reading", "advice", "compare_as", "error", "fault", "get", "readings"]
