"""The robot report: digits kept over many random states, by every order in every format."""

from typing import TYPE_CHECKING

from pivotree.kkt.base.lazy import lazily

if TYPE_CHECKING:
    from .make import robot_report
    from .summary import Report

WHERE = {"make": "robot_report", "summary": "Report"}

__all__ = ["Report", "robot_report"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazily(__name__, WHERE)
