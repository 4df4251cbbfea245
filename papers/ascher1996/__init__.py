"""Ascher, Pai & Cloutier 1996: forward dynamics, elimination methods, formulation stiffness."""

ITEMS = ("table2",)
