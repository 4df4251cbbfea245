"""The report's files: page, sheet and document, each whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

from pivotree.kkt.base.files import write_whole

from ..figures.files import save
from .page import page
from .sheet import sheet
from .summary import Report

PAGE, SHEET, DOCUMENT = "report.html", "report.pdf", "report.json"


def write_report(report: Report, folder: Path) -> list[Path]:
    """``report.json``, ``report.html`` and ``report.pdf``; returns their paths."""
    document = json.dumps(report.as_dict(), indent=1, allow_nan=False)
    return [
        write_whole(folder / DOCUMENT, document + "\n"),
        write_whole(folder / PAGE, page(report)),
        save(sheet(report), folder / SHEET),
    ]
