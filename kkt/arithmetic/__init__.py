"""Number formats in which a tape is run: by name with :func:`get_format`, or of one's own.

>>> system, order = pt.build(pt.chain(3)), pt.orderings.get("abm")
>>> pt.eliminate(system, order, pt.kkt.arithmetic.Binary("mine", precision=12)).format
'mine'
"""

from typing import TYPE_CHECKING

from ..base.lazy import lazily

if TYPE_CHECKING:
    from .binary import Binary
    from .chunk import ADD, DIV, MUL, SQRT, SUB
    from .custom import Custom
    from .double_double import DoubleDouble
    from .fixed import Fixed
    from .formats import Format
    from .mixed import Mixed
    from .names import get_format

WHERE = {
    "binary": "Binary",
    "chunk": "ADD DIV MUL SQRT SUB",
    "custom": "Custom",
    "double_double": "DoubleDouble",
    "fixed": "Fixed",
    "formats": "Format",
    "mixed": "Mixed",
    "names": "get_format",
}

__all__ = [
    "ADD",
    "DIV",
    "MUL",
    "SQRT",
    "SUB",
    "Binary",
    "Custom",
    "DoubleDouble",
    "Fixed",
    "Format",
    "Mixed",
    "get_format",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazily(__name__, WHERE)
