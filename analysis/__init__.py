"""What is learnt from orders: comparison, verdict, figures, and the command line.

>>> from pivotree import analysis, kkt
>>> system = kkt.build(kkt.chain(10))
>>> print(analysis.compare(system, ["crbm", "abm"], ["float32", "float64"]).verdict)
In float32 crbm keeps 4.6 digits on chain_10 in this one state; abm keeps 6.3 digits. ...
>>> print(analysis.blame(system, "crbm", "float32").sentence)
crbm in float32 on chain_10: qdd_j4 is off by 2.7e-05 of the largest acceleration, ...
"""

import lazy_loader

if __name__ == "analysis":  # not twice: its exceptions would be other classes
    raise ImportError("import pivotree.analysis")

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
