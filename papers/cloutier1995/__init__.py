"""Cloutier 1995: properties of robot forward dynamics algorithms, and planar arms in motion."""

ITEMS = (
    "equations",
    "methods.methods",
    "methods.gradients",
    "methods.propagators",
    "counts",
    "integrators",
    "sweep.figure53",
    "sweep.figure54",
    "sweep.figure55",
    "chains.figure56",
    "sweep.figure57",
    "chains.figure58",
    "chains.figure59",
    "chains.figure510",
    "drop.impact",
    "drop.drop",
)

QUICK: dict[str, dict[str, object]] = {  # item -> settings of a smaller study
    "equations": {"only": "two links"},
    "methods": {"angles": 4, "seconds": (1e1, 1e3, 1e5)},
    "gradients": {"links": (2, 4, 8, 16)},
    "figure53": {"angles": 401},
    "figure54": {"angles": 101},
    "figure55": {"angles": 401},
    "figure56": {"ratios": (1e-1,), "runs": 1},
    "figure57": {"angles": 401},
    "figure58": {"runs": 1},
    "figure59": {"n": (2, 4), "runs": 4},
    "figure510": {"n": (2, 4), "runs": 2},
    "integrators": {"accuracies": (1e-4, 1e-6), "seconds": 1.0},
    "impact": {"samples": 400},
    "drop": {"links": 2, "stiffness": (1e5, 1e6)},
}
