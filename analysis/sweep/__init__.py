"""Sweeps: trees x orders x formats x states, measured in chunks, kept as they come, resumable."""

from .config import read_config
from .run import sweep

__all__ = ["read_config", "sweep"]
