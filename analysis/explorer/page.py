"""The explorer as one HTML file that needs nothing else."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import dataclass, field
from functools import cache
from graphlib import TopologicalSorter
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from pivotree import kkt
from pivotree.kkt.base.files import write_whole

from ..colours import DARK, LIGHT, Theme
from .data import explorer_data

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([a-z]+)\.mjs";$', re.M)
_EXPORT = re.compile(r"^export ((?:const|class|function\*?|async function) (\w+))", re.M)
# Comments, also behind code where no quote follows; indentation; empty lines; semicolons before a brace.
_SPARED = re.compile(r"^ *(?://.*|/\*\*.*\*/)\n| +// [^\"'`\n]*$|^ +|^\n|;$(?=\n *\})", re.M)
# The heading is painted before the script does its work; where no frame of the screen comes, as for
# what is out of sight, it starts all the same.
_START = (
    "let begun = false;\n"
    "const begin = () => begun || ((begun = true), "
    'mount(document.getElementById("explorer"),'
    'JSON.parse(document.getElementById("data").textContent)));\n'
    "requestAnimationFrame(() => setTimeout(begin));\n"
    "setTimeout(begin, 1000);"
)
_SPARED_STYLE = re.compile(r"/\*.*?\*/|^\s+|(?<=[;{},:])\s+|;?\s+(?=[{}])", re.M | re.S)
POLICY = "default-src 'none'; {}; img-src data: blob:; base-uri 'none'; form-action 'none'"


@cache
def bundle() -> str:
    """The whole explorer as one ES module that exports ``mount`` and imports nothing.

    >>> from pivotree.analysis.explorer import bundle
    >>> bundle().splitlines()[-1]
    'export { mount };'
    """
    return f"{_joined()}export {{ mount }};\n"


@cache
def _joined() -> str:
    """The parts one after another, each in a scope of its own."""
    folder = files(__package__) / "static"
    texts: dict[str, str] = {}
    needs: dict[str, list[str]] = {}  # what each module imports, which is joined before it
    waiting = ["explorer"]
    while waiting:
        if (name := waiting.pop()) not in texts:
            texts[name] = (folder / f"{name}.mjs").read_text(encoding="utf-8")
            needs[name] = [match[2] for match in _IMPORT.finditer(texts[name])]
            waiting += needs[name]
    parts = []
    for name in TopologicalSorter(needs).static_order():
        text = _SPARED.sub("", texts[name])
        made = ", ".join(match[2] for match in _EXPORT.finditer(text))
        text = _IMPORT.sub(r"const \1 = part_\2;", _EXPORT.sub(r"\1", text))
        parts.append(f"const part_{name} = (() => {{\n{text}return {{ {made} }};\n}})();\n")
    return "".join(parts) + "const { mount } = part_explorer;\n"


@cache
def explorer_styles() -> str:
    """The stylesheet, colours included.

    >>> from pivotree.analysis.explorer import explorer_styles
    >>> "--" in explorer_styles()  # colours are its variables
    True
    """
    sheet = (files(__package__) / "static" / "explorer.css").read_text(encoding="utf-8")
    return colour_rules() + _SPARED_STYLE.sub("", sheet)


def explorer_page(data: dict[str, Any]) -> str:
    """One HTML document with data, code and style inside; its policy forbids any request.

    Code and style run by their SHA-256 alone, so what a name could smuggle in does not (CSP 2).

    >>> from pivotree.analysis.explorer import explorer_data, explorer_page
    >>> page = explorer_page(explorer_data(pt.build(pt.chain(1)), "chain:1", ["abm"], story=False))
    >>> "chain:1: eliminate it by hand" in page and "http://" not in page.partition("<script")[0]
    True
    """
    style, script = _inside()
    colours = {"light": palette(False), "dark": palette(True)}
    text = json.dumps(data | {"palette": colours}, allow_nan=False, separators=(",", ":"))
    inside = text.replace("<", "\\u003c")  # no end of a script inside a string
    title = escape(f"{data['model']}: eliminate it by hand")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy("served" in data)}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f'<title>{title}</title>\n<link rel="icon" href="data:,">\n<style>{style}</style>\n</head>\n<body>\n'
        # seen at once; the script puts the page in its place
        '<main id="explorer"><div class="pivotree">'
        "<h1>In which order would you eliminate?</h1></div>"
        "<noscript>The explorer needs JavaScript, and nothing else.</noscript>"
        f'</main>\n<script type="application/json" id="data">{inside}</script>\n'
        f'<script type="module">{script}</script>\n'
        "</body>\n</html>\n"
    )


@cache
def _inside() -> tuple[str, str]:
    """Style and code, which are the same in every page."""
    return page_rules() + explorer_styles(), f"\n{_joined()}\n{_START}\n"


def policy(asks: bool = False) -> str:
    """What a page may do: run its own code and style, and where it ``asks`` a server, ask its own."""
    style, script = _inside()
    own = f"script-src {_digest(script)}; style-src {_digest(style)}"
    return POLICY.format(own + "; connect-src 'self'" * asks)


def _digest(text: str) -> str:
    """What a policy calls an inline element whose text is exactly this."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def write_page(data: dict[str, Any], path: Path) -> Path:
    """Write the single file.  Raises FormatError where it cannot be written.

    >>> from pathlib import Path
    >>> from pivotree.analysis.explorer import explorer_data, write_page
    >>> data = explorer_data(pt.build(pt.chain(1)), "chain:1", ["abm"], story=False)
    >>> write_page(data, Path("page.html")).name
    'page.html'
    """
    return write_whole(path, explorer_page(data))


def page_rules() -> str:
    dark, light = palette(True)["page"], palette(False)["page"]
    return (
        f"body{{margin:0;background:{light}}}"
        f"@media (prefers-color-scheme:dark){{body{{background:{dark}}}}}"
        f"body:has([data-theme=light]){{background:{light}}}"
        f"body:has([data-theme=dark]){{background:{dark}}}"
        f"@media print{{body,body:has([data-theme]){{background:{light}}}}}\n"
    )


@cache
def widget_module() -> str:
    """One ES module: the explorer, then what anywidget renders it by."""
    text = (files(__package__) / "static" / "widget.mjs").read_text(encoding="utf-8")
    return bundle() + _IMPORT.sub("", text)


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


SCENES = 7
_ALLOWED = "allow-scripts allow-downloads allow-modals allow-popups"


@dataclass(frozen=True)
class Embedded:
    """The page as a frame; what is clicked in it stays in it (the widget hands orders back).

    >>> from pivotree.analysis.explorer import embedded
    >>> frame = embedded("chain:1")
    >>> frame.height, "<iframe" in frame._repr_html_()
    (800, True)
    """

    scene: int | None  # 1 to 7, or None for the whole tool
    page: str = field(repr=False)
    height: int = 800  # [px]

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="The explorer" sandbox="{_ALLOWED}" srcdoc="{escape(self.page)}" '
            f'style="width:100%;height:{self.height}px;border:1px solid #8888;border-radius:6px">'
            "</iframe>"
        )


def embedded(model: str = "chain:3", scene: int | None = None, height: int = 800) -> Embedded:
    """The explorer of a model as the last line of a cell; no widget and no server is needed.

    ``scene`` 1 to 7 opens that scene, None the whole tool; ``height`` is in pixels.  Raises
    ModelError for a model that cannot be read, or a scene that there is not.

    >>> from pivotree.analysis.explorer import embedded
    >>> embedded("chain:3", scene=2)
    Embedded(scene=2, height=800)
    """
    if scene is not None and scene not in range(1, SCENES + 1):
        raise kkt.ModelError(
            f"scene {scene!r}", "is unknown", f"use 1 to {SCENES}, or None for the whole tool"
        )
    system = kkt.build(kkt.load(model))
    data = explorer_data(system, model, ("abm", "crbm"), ["float32"], story=scene is not None)
    opened = data if scene is None else data | {"scene": scene}
    return Embedded(scene, explorer_page(opened), height)
