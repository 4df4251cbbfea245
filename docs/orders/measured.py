"""What the study measured of each order, read from its data: docs/study/README.md tells how."""

from __future__ import annotations

import importlib.util
import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

STUDY = Path(__file__).resolve().parents[1] / "study"
UNIT = 2.0**-24  # of float32
CHAIN = "chain:100"


@dataclass(frozen=True)
class Measured:
    """Decimal digits in float32; *lost* is beyond what the condition number may cost."""

    near: float  # worst digits lost, constructed robots with mass ratios to 1e4
    far: float  # the same from 1e5 to 1e9
    trees: float  # the same on random trees
    trees_median: float
    near_refined: float  # after one refinement step in float32
    kept: float  # digits kept on chain:100
    error: float  # max |qdd - exact| / max |exact| there
    family: dict[str, float]  # worst digits lost by family, mass ratios to 1e4


@cache
def _study() -> ModuleType:
    """The module that makes the study's tables, under a name of its own."""
    spec = importlib.util.spec_from_file_location("pictures_of_the_study", STUDY / "pictures.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def measured() -> dict[str, Measured]:
    """By order; orders that the study leaves out are absent."""
    study = _study()
    by_order: dict[str, list[dict[str, Any]]] = {}
    for row in study.read():
        by_order.setdefault(row["order"], []).append(row)
    return {order: _of(rows, study.CONSTRUCTED) for order, rows in by_order.items()}


def _of(rows: list[dict[str, Any]], constructed: tuple[str, ...]) -> Measured:
    def lost(refined: int, family: Any, low: float, high: float) -> list[float]:
        return [
            r["lost"]
            for r in rows
            if r["refined"] == refined and family(r["family"]) and low < r["ratio"] <= high
        ]

    def built(name: str) -> bool:
        return name in constructed

    def drawn(name: str) -> bool:
        return name.startswith("random")

    chain = next(r for r in rows if r["name"] == CHAIN and not r["refined"])
    families = dict.fromkeys(r["family"] for r in rows)
    return Measured(
        near=max(lost(0, built, 0, 1e4)),
        far=max(lost(0, built, 1e4, math.inf)),
        trees=max(lost(0, drawn, 0, math.inf)),
        trees_median=median(lost(0, drawn, 0, math.inf)),
        near_refined=max(lost(1, built, 0, 1e4)),
        kept=-math.log10(max(chain["error"], UNIT)),
        error=chain["error"],
        family={name: max(lost(0, name.__eq__, 0, 1e4), default=math.nan) for name in families},
    )


@cache
def facts() -> dict[str, Any]:
    """Data of the study's statements, by name."""
    found = json.loads((STUDY / "facts.json").read_text(encoding="utf-8"))
    return {fact["name"]: fact["data"] for fact in found}
