"""``python -m pivotree``: the command line."""

from .analysis.cli import command

raise SystemExit(command())
