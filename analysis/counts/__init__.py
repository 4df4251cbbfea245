"""Operation counts as polynomials, from the programs: fitted exactly, and proved where they repeat.

Two levels.  *Block counts* (:func:`.counting.count_blocks`) cost a program with every block of (4)
full; *scalar counts* (:func:`polynomial`) cost the tape of a family of robots, zeros and ones
folded away.  docs/counts.md has the tables and says what is proved.
"""

from .counting import KINDS, count, count_robot
from .families import FAMILIES, Family, family_of
from .polynomials import fit, text_of
from .published import COUNTS
from .table import Count, Crossover, crossings, polynomial, table

__all__ = [
    "COUNTS",
    "FAMILIES",
    "KINDS",
    "Count",
    "Crossover",
    "Family",
    "count",
    "count_robot",
    "crossings",
    "family_of",
    "fit",
    "polynomial",
    "table",
    "text_of",
]
