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
