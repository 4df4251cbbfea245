"""Every forward-dynamics algorithm as a sequence of pivots on one sparse matrix.

>>> import pivotree as pt
>>> system = pt.build(pt.chain(3))  # equation (4): system.matrix, system.rhs
>>> pt.eliminate(system, pt.orderings.get("abm")).qdd.round(3)
array([-1.533, 77.971, 15.55 ])
>>> print(pt.compare(system, ["crbm", "abm"], ["float32"]).verdict)
In float32 every order compared keeps at least 6 digits on chain_3 in this one state; ...

The functions that are used most, each with an example in its own ``help``:

* a robot: :func:`load` (a file, ``robot:ur5``, ``chain:100``), :func:`chain`, :func:`humanoid`;
* its matrix, in one state: :func:`build`;
* eliminate it, in an order and a number format: :func:`eliminate`, :func:`plan`;
* all orders beside each other, and a verdict: :func:`compare`;
* a symmetric matrix of one's own in a robot's place: :func:`matrix`;
* an order of one's own: :func:`order`; the cheapest one: :func:`search`;
* its picture, in one's own axes: :func:`spy`; its factor: :func:`factor`;
* where digits are lost: :func:`blame`; digits that are proved: :func:`certify`, :func:`guarantee`;
* machine code for many states: :func:`compile`.

Names of robots, the matrix and its elimination are those of :mod:`pivotree.kkt`; orders are
:mod:`pivotree.orderings`, their comparison and analysis :mod:`pivotree.analysis`, the papers
:mod:`pivotree.papers`. Each is loaded when it is first asked for; ``__init__.pyi`` says the same to
type checkers.
"""

from pathlib import Path
from typing import Any

import lazy_loader

if Path(__file__).with_name("kkt").is_file():
    raise ImportError(
        "this checkout of pivotree has text files in place of the links in src/pivotree: let your "
        "user make links (on Windows: developer mode), then run git config core.symlinks true and "
        "git checkout -- src, or install the wheel"
    )

from . import kkt
from .kkt import order as _room

_load, __dir__, __all__ = lazy_loader.attach(
    __name__,
    ["analysis", "kkt", "orderings", "papers"],
    {
        "analysis": [
            "Blame",
            "ClosedForm",
            "Comparison",
            "Row",
            "blame",
            "closed_form",
            "compare",
            "in_letters",
            "search",
            "spy",
        ],
        "kkt": dir(kkt),
        "kkt.solution.matrix": ["matrix"],  # in kkt a room has this name
        "orderings": ["order"],
    },
)


def _find(name: str) -> Any:
    """The registered order of a name: the orders are loaded when the first one is asked for."""
    from . import orderings

    return orderings.get(name)


_room.find = _find


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("pivotree")
    return _load(name)
