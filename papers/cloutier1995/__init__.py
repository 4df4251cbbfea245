"""Cloutier 1995: properties of robot forward dynamics algorithms, and planar arms in motion."""

ITEMS = (
    "equations",
    "methods",
    "gradients",
    "propagators",
    "counts",
    "figure52",
    "integrators",
    "figure53",
    "figure54",
    "figure55",
    "figure56",
    "figure57",
    "figure58",
    "figure59",
    "figure510",
    "impact",
    "drop",
)
