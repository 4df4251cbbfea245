"""Forward dynamics as one straight-line program, from joint positions on, in machine code."""

from .kernel import Kernel, compile

__all__ = ["Kernel", "compile"]
