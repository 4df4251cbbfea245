"""Featherstone 1983, 1987, as Johnson & Su's slides tell it: RNEA and the articulated body."""

ITEMS = ("equations", "lines.rnea", "lines.aba", "slides.external", "efficiency", "growth", "slides.robots")

QUICK: dict[str, dict[str, object]] = {  # item -> settings of a smaller study
    "external": {"models": ("chain:12",)},
    "robots": {"models": ("chain:12",)},
}
