"""Ascher, Pai & Cloutier 1996: forward dynamics, elimination methods, formulation stiffness."""

ITEMS = (
    "equations",
    "structure",
    "trees",
    "loops",
    "stanford",
    "figure1",
    "table1",
    "tilted",
    "tilted_motion",
    "links",
    "shoulder",
    "table2",
)
