"""The Lubich/Ascher KKT matrix of a tree of rigid bodies, and its elimination.

>>> from pivotree import kkt, orderings
>>> system = kkt.build(kkt.chain(3))  # equation (4): system.matrix, system.rhs
>>> kkt.eliminate(system, orderings.get("abm"), "float32").fill
2
"""

import lazy_loader

if __name__ == "kkt":  # not twice: its exceptions would be other classes
    raise ImportError("import pivotree.kkt")

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
