"""Colours of the explorer: those of the figures, and a few that only a page needs."""

from __future__ import annotations

from ..figures.style import DARK, LIGHT, Theme

# Digits lost, none to all: luminance falls (or, on dark, rises) from step to step, so that the
# scale reads in grey and with any colour vision.  Purple, which nothing else on the page is: fill is
# orange, entries are blue.
_HEAT = {
    False: ("#F7EEF6", "#E6C8E4", "#CD93CB", "#984C9C", "#672672", "#350B40"),
    True: ("#2A1B30", "#4A2752", "#783A80", "#BE82C2", "#DEB2DE", "#F8E4F6"),
}


def palette(dark: bool) -> dict[str, str]:
    """Name of a colour -> #RRGGBB."""
    look: Theme = DARK if dark else LIGHT
    colours = {
        "page": look.page,
        "ink": look.ink,
        "soft": "#A6AFB9" if dark else "#555555",
        "faint": look.faint,
        "line": "#2A313A" if dark else "#DDDDDD",
        "shade": look.shade,
        "entry": look.entry,
        "entryStrong": look.entry_strong,
        "fill": look.fill,
        "fillHatch": look.fill_hatch,
        "new": look.new,
        "newInk": "#12161C" if dark else "#1A1A1A",
        "fillInk": "#12161C" if dark else "#1A1A1A",
        "focus": "#56B4E9" if dark else "#0B4F8A",
        "ghost": "#3A2415" if dark else "#FBE3D3",
        "heatInk": "#12161C" if dark else "#FFFFFF",
    }
    return colours | {f"heat{i}": colour for i, colour in enumerate(_HEAT[dark])}


def colour_rules() -> str:
    """CSS that sets the colours: dark where the system or the switch says so, light on paper."""
    light, dark = (
        ";".join(f"--pt-{name}:{colour}" for name, colour in palette(d).items()) for d in (False, True)
    )
    return (
        f".pivotree{{color-scheme:light;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{.pivotree:not([data-theme=light])"
        f"{{color-scheme:dark;{dark}}}}}\n"
        f".pivotree[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
        f"@media print{{.pivotree,.pivotree[data-theme]{{color-scheme:light;{light}}}}}\n"
    )
