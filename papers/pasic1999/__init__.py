"""Pasic, Williams & Hui 1999: a numerical algorithm for manipulator forward dynamics."""

ITEMS = (
    "equations",
    "arm.equation20",
    "figure4",
    "one_domain.figure5",
    "matching.figure6",
    "multiple_shooting.equation17",
    "one_domain.shooting",
    "multiple_shooting.multiple",
    "general.boundaries",
)

QUICK: dict[str, dict[str, object]] = {  # item -> settings of a smaller study
    "figure5": {"scan": (0.3, 0.35, 0.4), "guesses": 6},
    "multiple": {"ends": (1.0, 1.5), "subdomains": (20,)},
    "boundaries": {"ends": (0.1,)},
}
