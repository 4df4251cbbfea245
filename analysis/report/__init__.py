"""The robot report: digits kept over many random states, by every order in every format."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .make import robot_report
    from .summary import Report

__all__ = ["Report", "robot_report"]


def __getattr__(name: str) -> Any:
    """Load when asked for: the command line starts without numba and matplotlib."""
    if name == "robot_report":
        from .make import robot_report

        return robot_report
    if name == "Report":
        from .summary import Report

        return Report
    raise AttributeError(f"module 'analysis.report' has no attribute {name!r}")
