"""Operation counts as polynomials, from the programs: fitted exactly, and proved where they repeat.

Two levels.  *Block counts* (:func:`block_count`) cost a program on a tree with every block of (4)
full; *scalar counts* (:func:`polynomial`) cost the tape of a family of robots, zeros and ones
folded away.  docs/counts.md has the tables and says what is proved.
"""

from .assembly import Assembly, assembly
from .blocks import BlockCount, block_count, chain_count
from .families import FAMILIES, Family
from .polynomials import Polynomial
from .published import COUNTS
from .table import Count, Crossover, crossings, crossover, polynomial, table

__all__ = [
    "COUNTS",
    "FAMILIES",
    "Assembly",
    "BlockCount",
    "Count",
    "Crossover",
    "Family",
    "Polynomial",
    "assembly",
    "block_count",
    "chain_count",
    "crossings",
    "crossover",
    "polynomial",
    "table",
]
