"""Contact of any tree: blows, and contacts that press."""

from .impacts import Forces, Impact, forces, impact
from .laws import gain, newton, poisson

__all__ = ["Forces", "Impact", "forces", "gain", "impact", "newton", "poisson"]
