"""Number formats in which a tape is run: by name with :func:`get_format`, or of one's own.

>>> system, order = pt.build(pt.chain(3)), pt.orderings.get("abm")
>>> pt.eliminate(system, order, pt.kkt.arithmetic.Binary("mine", precision=12)).format
'mine'
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
