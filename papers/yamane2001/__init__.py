"""Yamane & Nakamura 2001: O(N) forward dynamics by the principle of virtual work."""

ITEMS = (
    "agreement.closed",
    "equations",
    "recursion.readings",
    "agreement.agreement",
    "fig3",
    "snapshots",
    "growth.fig6",
    "growth.fig7",
    "section6",
)

QUICK: dict[str, dict[str, object]] = {  # item -> settings of a smaller study
    "agreement": {"chains": (16,), "stars": (2, 12), "trees": 1},
    "fig3": {"leaves": (8,), "trees": 1},
    "section6": {"largest": 4},
    "snapshots": {"seconds": 0.2},
}
