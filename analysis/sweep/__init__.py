"""Sweeps: trees x orders x formats x states, measured in chunks, kept as they come, resumable."""

from .config import Config, read_config
from .run import Summary, sweep

__all__ = ["Config", "Summary", "read_config", "sweep"]
