"""Featherstone 1983, 1987, as Johnson & Su's slides tell it: RNEA and the articulated body."""

ITEMS = ("rnea", "aba", "external", "efficiency", "growth", "robots")
