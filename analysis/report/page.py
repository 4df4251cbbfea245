"""The page: one HTML file that needs nothing else, light or dark as the reader's system is."""

from __future__ import annotations

import io
import re
from html import escape
from urllib.parse import quote

from matplotlib.figure import Figure

from ..figures.style import DARK, LIGHT, settings
from .facts import (
    CHEAPEST_HEAD,
    COLUMNS,
    DATA,
    FIELD_COLUMNS,
    cheapest_rows,
    digits_rows,
    field_rows,
    notes,
    replays,
    subtitle,
    title,
)
from .picture import joints, strips
from .summary import Report

_STYLE = """
:root{color-scheme:light dark;%s}
@media (prefers-color-scheme:dark){:root{%s}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);
 font:.94rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:60rem;margin:0 auto;padding:2rem 1.25rem 3rem}
h1{font-size:1.6rem;line-height:1.2;margin:0 0 .2rem;overflow-wrap:anywhere}
h2{font-size:1rem;margin:2rem 0 .5rem}
.sub{color:var(--soft);margin:0 0 1.2rem}
.verdict{margin:0;padding:.2rem 0 .2rem 1rem;border-left:3px solid var(--s0)}
.verdict p{margin:.25rem 0}.verdict p:first-child{font-weight:600}
figure{margin:1.5rem 0 0;overflow-x:auto}figure svg{width:100%%;min-width:34rem;height:auto;
 display:block}
figcaption{color:var(--soft);font-size:.87rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.87rem;font-variant-numeric:tabular-nums;width:100%%}
th,td{padding:.22rem .5rem;text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left;padding-left:0}
thead th{border-bottom:1px solid var(--ink);font-weight:600}
thead tr.group th{border-bottom:0;text-align:center;padding-bottom:0}
thead tr.group th:first-child{text-align:left}
td.first,th.first{padding-left:1.2rem}
tbody tr+tr td{border-top:1px solid var(--line)}
tr.data td{color:var(--soft)}
td.low{font-weight:700}
.wide+.wide{margin-top:.9rem}.tight{font-size:.8rem}.tight th,.tight td{padding:.2rem .22rem}
.tight td.first,.tight th.first{padding-left:.9rem}
.tight th:first-child,.tight td:first-child{padding-left:0}
pre{margin:.4rem 0;overflow-x:auto}
.left td,.left th{text-align:left}
pre{font:.8rem/1.5 ui-monospace,"DejaVu Sans Mono",Menlo,monospace}
a{color:inherit}
td.why{white-space:normal;min-width:16rem}
.small{color:var(--soft);font-size:.82rem;margin:.35rem 0}
.notes{color:var(--soft);font-size:.82rem}.notes p{margin:.35rem 0}
@media print{:root{%s;font-size:10.4px}@page{size:A4;margin:13mm}main{max-width:none;padding:0}
 h2{margin:1.2rem 0 .3rem}figure{margin:.8rem 0 0;break-inside:avoid}
 figure svg{min-width:0;max-height:64mm}
 table{break-inside:avoid}h2{break-after:avoid}.wide,pre{overflow:visible}
 pre{white-space:pre-wrap}.details{break-before:page}}
"""


def page(report: Report) -> str:
    """The whole HTML document."""
    head = title(report)
    # a rule of print comes last, so that a dark screen prints dark on light
    style = _STYLE % (_colours(False), _colours(True), _colours(False))
    verdict = "\n".join(f"<p>{escape(sentence)}</p>" for sentence in report.verdict)
    body = [
        f"<h1>{escape(head)}</h1>",
        f'<p class="sub">{escape(subtitle(report))}</p>',
        f'<section class="verdict">{verdict}</section>',
        _figure(
            strips(report),
            "a",
            "Digits kept by each order, one panel a number format.",
            f"Grey line: the {report.wanted:g} digits asked for.",
        ),
        _digits(report),
        _fields(report),
        _cheapest(report),
        _joints(report),
        '<section class="notes">',
        *(f"<p>{escape(note)}</p>" for note in notes(report)),
        "</section>",
        _worst(report),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f"<title>{escape(head)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def _colours(dark: bool) -> str:
    look = DARK if dark else LIGHT
    named = {"page": look.page, "ink": look.ink, "faint": look.faint}
    named |= {"soft": "#A6AFB9" if dark else "#555555", "line": "#2A313A" if dark else "#DDDDDD"}
    named |= {f"s{i}": colour for i, colour in enumerate(look.series)}
    return ";".join(f"--{name}:{colour}" for name, colour in named.items())


def _figure(figure: Figure, prefix: str, label: str, caption: str) -> str:
    return (
        f'<figure role="img" aria-label="{escape(label)}">{_svg(figure, prefix)}'
        f"<figcaption>{escape(label)} {escape(caption)}</figcaption></figure>"
    )


def _svg(figure: Figure, prefix: str) -> str:
    """A light figure as inline SVG, its colours turned into the page's own."""
    stream = io.StringIO()
    with settings("sans"):
        figure.savefig(stream, format="svg", metadata={"Date": None}, transparent=True)
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    for name, colour in [
        *((f"s{i}", colour) for i, colour in enumerate(LIGHT.series)),
        ("ink", LIGHT.ink),
        ("faint", LIGHT.faint),
        ("page", LIGHT.page),
    ]:
        text = re.sub(f"{colour}\\b", f"var(--{name})", text, flags=re.I)
    # two pictures on one page must not share names
    text = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{prefix}-", text)
    return re.sub(r"<svg ", '<svg aria-hidden="true" ', text, count=1)


def _digits(report: Report) -> str:
    names = list(reversed(report.by_cost))
    parts = []
    for start in range(0, len(names), 4):
        some = names[start : start + 4]
        groups = "".join(f'<th class="first" colspan="4">{escape(n)}</th>' for n in some)
        if start:  # under the columns of the table above
            groups += '<th class="first" colspan="4"></th>' * (4 - len(some))
        head = "".join(
            f"<th{' class=first' if i == 0 else ''}>{c}</th>" for _ in some for i, c in enumerate(COLUMNS)
        )
        rows = "\n".join(_row(report, row) for row in digits_rows(report, some))
        parts.append(
            '<div class="wide"><table class="tight"><thead>'
            f'<tr class="group"><th></th>{groups}</tr>'
            f"<tr><th>digits kept by</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        )
    failed = [f"{c.order} in {c.format}: {c.failed} of {report.states}" for c in report.cells if c.failed]
    told = f"Bold: fewer than the {report.wanted:g} digits asked for."
    if failed:
        told += f" Without an answer, counted as 0: {'; '.join(failed)} states."
    marked = [f"{c.order} in {c.format}: {c.marked}" for c in report.cells if c.marked]
    if marked:
        told += f" Marked as not to be relied on: {'; '.join(marked)} of {report.states} states."
    told = f'<p class="small">{escape(told)}</p>'
    return f"<h2>Digits kept, by share of states</h2>{''.join(parts)}{told}"


def _fields(report: Report) -> str:
    """Digits of qdd and of each matrix, of derivatives; a table a format."""
    if not report.cells[0].fields:
        return ""
    names = list(report.cells[0].fields)
    groups = "".join(f'<th class="first" colspan="2">{escape(name)}</th>' for name in names)
    head = "".join(
        f"<th{' class=first' if i == 0 else ''}>{c}</th>" for _ in names for i, c in enumerate(FIELD_COLUMNS)
    )
    parts = []
    for format in reversed(report.by_cost):
        rows = "\n".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>"
            for row in field_rows(report, format)
        )
        parts.append(
            '<div class="wide"><table class="tight"><thead>'
            f'<tr class="group"><th>{escape(format)}</th>{groups}</tr>'
            f"<tr><th>digits kept by</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        )
    return f"<h2>Digits of qdd and of each matrix</h2>{''.join(parts)}"


def _row(report: Report, row: list[str]) -> str:
    cells = [f"<td>{escape(row[0])}</td>"]
    for i, text in enumerate(row[1:]):
        low = row[0] != DATA and float(text) < report.wanted
        words = " ".join(w for w, on in (("first", i % 4 == 0), ("low", low)) if on)
        cells.append(f'<td class="{words}">{text}</td>' if words else f"<td>{text}</td>")
    kind = ' class="data"' if row[0] == DATA else ""
    return f"<tr{kind}>{''.join(cells)}</tr>"


def _cheapest(report: Report) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in CHEAPEST_HEAD)
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in cheapest_rows(report)
    )
    return (
        f"<h2>Cheapest format that keeps {report.wanted:g} digits</h2>"
        f'<div class="wide"><table class="left"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _joints(report: Report) -> str:
    if not any(report.cell(order, report.focus).joints for order in report.orders):
        return ""
    label = f"The joints that lose most in {report.focus}."
    caption = "Errors relative to the largest acceleration of the state."
    if report.quantity == "derivatives":
        caption = "Errors in their rows, relative to the largest entry of each matrix."
    return f"<h2>Joints that lose most</h2>{_figure(joints(report), 'b', label, caption)}"


def _worst(report: Report) -> str:
    rows = []
    for cell in report.cells:
        worst = cell.worst
        if worst is None:
            continue
        error = "no answer" if worst.error is None else f"{worst.error:.1e}"
        if worst.error is not None and not worst.certified:
            error += " (not certified)"
        state = str(worst.state)
        if worst.file:
            state = f'<a href="{quote(worst.file)}">{state}</a>'
        rows.append(
            f"<tr><td>{escape(cell.order)}</td><td>{escape(cell.format)}</td><td>{state}</td>"
            f'<td>{error}</td><td class="why">{escape(worst.why)}</td></tr>'
        )
    if not rows:
        return ""
    commands = "\n".join(escape(command) for *_, command in replays(report))
    again = ""
    if commands:
        again = f'<p class="small">To see why, in this folder:</p><pre>{commands}</pre>'
    return (
        '<section class="details"><h2>Worst states</h2>'
        '<div class="wide"><table class="left"><thead><tr><th>order</th><th>format</th>'
        "<th>state</th><th>error</th><th>where it is lost</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>{again}</section>"
    )
