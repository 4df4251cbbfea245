"""Will a robot keep its digits in a number format: one page, with what would mend it."""

from .make import Checked, check

__all__ = ["Checked", "check"]
