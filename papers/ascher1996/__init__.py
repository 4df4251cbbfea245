"""Ascher, Pai & Cloutier 1996: forward dynamics, elimination methods, formulation stiffness."""

ITEMS = (
    "equations",
    "structure.structure",
    "structure.trees",
    "structure.loops",
    "robots.stanford",
    "example1.figure1",
    "table1",
    "example1.tilted",
    "robots.links",
    "robots.shoulder",
    "table2",
)

QUICK: dict[str, dict[str, object]] = {  # item -> settings of a smaller study
    "equations": {"only": "equation"},
    "trees": {"sizes": (32, 64), "seeds": 2},
    "loops": {"most": 6},
    "figure1": {"angles": 501},
    "table1": {"ratios": (0.003,), "runs": 2, "orders": ("abm", "crbm")},
    "tilted": {"angles": 21, "axes": 20},
    "links": {"states": 6},
    "table2": {"points": 13},
}
