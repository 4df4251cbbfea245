"""Which orders there are: one method a file, with its variants, its source first.

An order is a function from the structure of a tree to a list of groups of blocks:

>>> from pivotree import kkt, orderings
>>> @orderings.order("mine", source="a notebook")
... def mine(structure):
...     return [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base]
>>> kkt.eliminate(kkt.build(kkt.chain(3)), mine).fill
2
"""

import lazy_loader

if __name__ == "orderings":  # not twice: its exceptions would be other classes
    raise ImportError("import pivotree.orderings")

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
