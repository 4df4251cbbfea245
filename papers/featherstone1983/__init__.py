"""Featherstone 1983, 1987, as Johnson & Su's slides tell it: RNEA and the articulated body."""

ITEMS = ("equations", "rnea", "aba", "external", "efficiency", "growth", "robots")
