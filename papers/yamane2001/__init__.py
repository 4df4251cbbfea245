"""Yamane & Nakamura 2001: O(N) forward dynamics by the principle of virtual work."""

ITEMS = ("closed", "equations", "readings", "agreement", "fig3", "snapshots", "fig6", "fig7", "section6")
