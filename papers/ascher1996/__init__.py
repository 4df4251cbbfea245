"""Ascher, Pai & Cloutier 1996: forward dynamics, elimination methods, formulation stiffness."""

ITEMS = ("equations", "structure", "trees", "loops", "figure1", "table1", "tilted", "table2")
