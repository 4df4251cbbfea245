"""Number formats that read a tape: by name with :func:`get_format`, or of one's own.

>>> kkt.eliminate(system, order, kkt.arithmetic.Binary("mine", precision=12))
"""

from .binary import Binary
from .formats import Format, get_format
from .mixed import Mixed

__all__ = ["Binary", "Format", "Mixed", "get_format"]
