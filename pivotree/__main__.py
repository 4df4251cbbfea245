"""``python -m pivotree``: the command line."""

from .analysis.cli import main

raise SystemExit(main())
