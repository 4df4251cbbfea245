"""The edition of Pivotree's arithmetic: rows of two editions never stand in one table.

It is raised by one when a change gives any case other bits, operations or fill, or refuses it for
another reason: another rounding, another program of an order, another reference, another rule on
what is an answer, other random states; not when a release leaves the numbers alone.  A test holds
the numbers of an edition against those that were printed with it.
"""

EDITION = 4
