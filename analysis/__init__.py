"""What is learnt from orders: comparison, verdict, figures, and the command line.

>>> from pivotree import analysis, kkt
>>> system = kkt.build(kkt.chain(10))
>>> print(analysis.compare(system, ["crbm", "abm"], ["float32", "float64"]).verdict)
In float32 crbm keeps 4.6 digits on chain_10 in this one state; abm keeps 6.3 digits. ...
>>> print(analysis.blame(system, "crbm", "float32").sentence)
crbm in float32 on chain_10: qdd_j4 is off by 2.7e-05 of the largest acceleration, ...
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .comparison import Comparison, Row, compare
    from .rounding import Blame, blame

ROOMS = ("complements", "contact", "gradients", "inertia")  # modules, loaded where they are used

__all__ = ["Blame", "Comparison", "Row", "blame", "compare", *ROOMS]


def __getattr__(name: str) -> Any:
    """Load what is asked for: the command line starts without it."""
    if name in ("Blame", "blame"):
        from . import rounding

        return getattr(rounding, name)
    if name in ROOMS:
        return import_module(f"{__name__}.{name}")
    if name in __all__:
        from . import comparison

        return getattr(comparison, name)
    raise AttributeError(f"module 'analysis' has no attribute {name!r}")
