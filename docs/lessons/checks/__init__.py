"""Exercises that check themselves: what is right is computed by the engine, never typed here.

The checks lie beside the notebooks, not in the installed package: marimo puts a notebook's folder
on the path, and who only computes dynamics has no use for them.  Every check returns a Verdict.
"""

from .lesson1 import mystery, neighbours, parents, rows
from .lesson2 import crbm_fill, first_fill, more_fill
from .lesson3 import branched, crossing, inertia_zeros, write_abm
from .lesson4 import culprit, d2, least_power, unlucky
from .lesson5 import dissected, name_it, riddle, shallowest
from .lesson6 import cheaper, limits, repaired, shallow_and_sparse
from .verdict import Verdict, factor, operations

__all__ = [
    "Verdict",
    "branched",
    "cheaper",
    "crbm_fill",
    "crossing",
    "culprit",
    "d2",
    "dissected",
    "factor",
    "first_fill",
    "inertia_zeros",
    "least_power",
    "limits",
    "more_fill",
    "mystery",
    "name_it",
    "neighbours",
    "operations",
    "parents",
    "repaired",
    "riddle",
    "rows",
    "shallow_and_sparse",
    "shallowest",
    "unlucky",
    "write_abm",
]
