"""What is learnt from orders: comparison, verdict, figures, and the command line.

>>> from pivotree import analysis, kkt
>>> system = kkt.build(kkt.chain(10))
>>> print(analysis.compare(system, ["crbm", "abm"], ["float32", "float64"]).verdict)
In float32 crbm keeps 4.6 digits on chain_10 in this one state; abm keeps 6.3 digits. ...
>>> print(analysis.blame(system, "crbm", "float32").sentence)
crbm in float32 on chain_10: qdd_j4 is off by 2.7e-05 of the largest acceleration, ...
"""

if __name__ == "analysis":  # not twice: its exceptions would be other classes
    raise ImportError("import pivotree.analysis")

from typing import TYPE_CHECKING

from pivotree.kkt.base.lazy import lazily

if TYPE_CHECKING:
    from .comparison import Comparison, Row, compare
    from .rounding.blame import Blame, blame

WHERE = {"comparison": "Comparison Row compare", "rounding.blame": "Blame blame"}

__all__ = ["Blame", "Comparison", "Row", "blame", "compare", "complements", "contact", "gradients", "inertia"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazily(__name__, WHERE)
