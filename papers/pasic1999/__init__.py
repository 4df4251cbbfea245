"""Pasic, Williams & Hui 1999: a numerical algorithm for manipulator forward dynamics."""

ITEMS = (
    "equations",
    "equation20",
    "figure4",
    "figure5",
    "figure6",
    "equation17",
    "shooting",
    "multiple",
    "boundaries",
)

QUICK = {  # item -> settings of a smaller study
    "figure5": {"scan": (0.3, 0.35, 0.4), "guesses": 6},
    "multiple": {"ends": (1.0, 1.5), "subdomains": (20,)},
    "boundaries": {"ends": (0.1,)},
}
