"""Fields of a TOML document, taken one by one; what is wrong is told in one sentence."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pivotree.kkt import PivotreeError
from pivotree.kkt.base.errors import UnreadableError, nearest
from pivotree.kkt.base.foreign import is_whole
from pivotree.kkt.base.reading import read_text

DEEPEST = 100  # parts of a dotted key, for which tomllib takes memory and time by their square
QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
DOTS = re.compile(r"[^.\s]\s*\.")
ENDS_A_KEY = re.compile(r"[][{}=,#\n]")


def document(path: Path) -> dict[str, Any]:
    """A TOML file.  Raises PivotreeError where it cannot be read, or is no TOML."""
    try:
        text = read_text(path)
        if max(len(DOTS.findall(part)) for part in ENDS_A_KEY.split(QUOTED.sub("x", text))) > DEEPEST:
            raise PivotreeError(f"{path}: has a key of more than {DEEPEST} parts; give fewer")
        return tomllib.loads(text)
    except UnreadableError as error:
        raise PivotreeError(f"{path}: {error}; give a TOML file") from None
    except (ValueError, RecursionError) as error:  # RecursionError: nested too deep
        raise PivotreeError(f"{path}: is no TOML ({error}); see docs/sweep.md") from None


MOST = 2**63 - 1  # what a column of integers holds


class Fields:
    """A table of a document: every field is taken once, and none may be left."""

    def __init__(self, path: Path, table: Any, name: str = "") -> None:
        self.path = path
        self.name = name
        if not isinstance(table, dict):
            raise self.wrong("", table, "a table")
        self.table: dict[Any, Any] = dict(table)
        self.known: list[str] = []

    def wrong(self, field: str, value: Any, right: str) -> PivotreeError:
        """The sentence: file, field, what is wrong, what would be right."""
        place = ".".join(part for part in (self.name, field) if part)
        return PivotreeError(f"{self.path}: field {place!r} is {value!r}; give {right}")

    def take(self, field: str, default: Any = None) -> Any:
        self.known.append(field)
        return self.table.pop(field, default)

    def whole(self, field: str, default: int, least: int, most: int = MOST) -> int:
        """A whole number from ``least`` to ``most``."""
        value = self.take(field, default)
        if not is_whole(value, least, most):
            raise self.wrong(field, value, f"a whole number, {least} to {most:,}")
        return value

    def text(self, field: str, default: str | None = None) -> str:
        value = self.take(field, default)
        if value is None:
            raise PivotreeError(f"{self.path}: has no field {field!r}; give a text")
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(field, value, "a text")
        return value.strip()

    def yes(self, field: str) -> bool:
        value = self.take(field, False)
        if not isinstance(value, bool):
            raise self.wrong(field, value, "true or false")
        return value

    def one_of(self, field: str, default: str, known: Iterable[str]) -> str:
        value = self.text(field, default)
        if value not in tuple(known):
            raise self.wrong(field, value, " or ".join(map(repr, known)))
        return value

    def names(self, field: str, default: list[str] | None = None) -> list[str]:
        """A list of texts, none twice, at least one."""
        value = self.take(field, default)
        if value is None:
            raise PivotreeError(f"{self.path}: has no field {field!r}; give a list of names")
        if not isinstance(value, list) or not value:
            raise self.wrong(field, value, "a list of names")
        for i, item in enumerate(value):
            if not isinstance(item, str):
                raise self.wrong(f"{field}[{i}]", item, "a text")
            if item in value[:i]:
                raise self.wrong(f"{field}[{i}]", item, "each name once")
        return value

    def done(self) -> None:
        """Raise PivotreeError for a field that means nothing."""
        for field in self.table:
            place = f"table {self.name!r} of it" if self.name else "the file"
            raise PivotreeError(
                f"{self.path}: field {field!r} is unknown in {place}; {nearest(field, self.known)}"
            )
