"""The tables of docs/counts.md (``make counts-page``), and for the site its picture and all polynomials.

The page's tables stand between markers; the sentences around them are written by hand, and what they
say in numbers is looked for in them.  The long tables of docs/theory/counts.md are made for the site.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from counts_before import Assembly, assembly, without_bias
from counts_kernels import HEAD, kernel_counts, kernel_rows
from counts_trees import BlockCount, block_count, chain_count
from flint import fmpq_mpoly, fmpq_poly
from matplotlib.figure import Figure

from pivotree import orderings
from pivotree.analysis.counts import COUNTS, FAMILIES, Count, crossings, table, text_of
from pivotree.analysis.counts.table import COUNT_HEAD, CROSSOVER_HEAD, count_cells, crossover_cells
from pivotree.papers.cloutier1995.pictures import crossing

PAGE = Path(__file__).with_name("counts.md")
NAMES = {"mul": "multiplications", "add": "additions", "div": "divisions"}
USUAL = (
    "crbm",
    "abm",
    "gain_abm",
    "modified_abm",
    "projected_abm",
    "square_root_abm",
    "virtual_work",
    "lagrange",
    "inverse_dynamics",
)
STARS = ("crbm", "abm", "virtual_work", "virtual_work_split", "lagrange")
BINARY = ("crbm", "abm", "lagrange")
ORDERS_OF = {
    "dh": tuple(name for name in orderings.ORDERS if name != "random:0"),
    "star": STARS,
    "star_spherical": STARS,
    "binary": BINARY,
    "dh_whole": (*USUAL, "constraint_force", "divide_and_conquer", "base_to_tip", "random:0"),
}
TREES = tuple(name for name in USUAL if name != "virtual_work")  # whose blocks are counted in any tree
CHAINS = ("crbm_block_row", "virtual_work", "base_to_tip")
FIRST_SCREEN, LENGTHS = ("crbm", "square_root_abm", "abm", "gain_abm"), (3, 7, 30, 100)


@dataclass(frozen=True)
class Gathered:
    """All that the page shows."""

    scalar: dict[str, list[Count | str]]  # by family
    trees: list[BlockCount]
    chains: dict[str, dict[str, fmpq_mpoly]]  # order, kind of operation
    before: dict[str, Assembly]  # families whose assembly is counted
    still: dict[str, fmpq_poly]  # crbm on dh where every a_k is zero
    kernels: list[Count]  # on dh

    def count(self, order: str, family: str) -> Count:
        return next(c for c in self.scalar[family] if isinstance(c, Count) and c.order == order)

    def mul(self, order: str, family: str) -> str:
        return text_of(self.count(order, family).polynomials["mul"])


def gather() -> Gathered:
    scalar = {family: table(ORDERS_OF.get(family, USUAL), [family]) for family in FAMILIES}
    trees = [count for name in TREES if (count := block_count(orderings.get(name)))]
    chains = {name: terms for name in CHAINS if (terms := chain_count(orderings.get(name)))}
    before = {name: cost for name, family in FAMILIES.items() if (cost := assembly(family))}
    counted = [c for c in scalar["dh"] if isinstance(c, Count) and c.order in USUAL]
    kernels = kernel_counts(counted, FAMILIES["dh"])
    return Gathered(scalar, trees, chains, before, without_bias("crbm", FAMILIES["dh"]), kernels)


def page(found: Gathered, text: str) -> str:
    """The page with its tables made anew."""
    made = {
        "operations": _operations(found),
        "published": _published(found),
        "kernels": markdown(HEAD, kernel_rows(found.kernels, FAMILIES["dh"])),
        "crossings": _crossings(found),
    }
    for name, part in made.items():
        pattern = rf"(<!-- table {name} -->\n).*?(\n<!-- end -->)"
        text, places = re.subn(pattern, lambda m, part=part: m[1] + part + m[2], text, flags=re.S)
        if places != 1:
            raise SystemExit(f"{PAGE.name}: has {places} places for table {name}; give it one")
    return text


def whole(found: Gathered, text: str) -> str:
    """docs/theory/counts.md with its tables."""
    made = {
        "scalar": _scalar(found),
        "trees": "\n\n".join(_tree(count) for count in found.trees),
        "chains": "\n\n".join(_listed(name, terms) for name, terms in found.chains.items()),
    }
    for name, part in made.items():
        text = text.replace(f"<!-- made {name} -->", part)
    return text


def unsaid(found: Gathered, text: str) -> list[str]:
    """What the sentences of the page should say in numbers, and do not."""
    cost = {name: _all(found.count(name, "dh").polynomials) for name in FIRST_SCREEN}
    first = next(n for n in range(2, 100) if cost["abm"](n) < cost["crbm"](n))
    more = float(cost["square_root_abm"](LENGTHS[-1]) / cost["abm"](LENGTHS[-1]))
    abm, crbm = COUNTS
    solution, before = found.count("abm", "dh").polynomials, found.before["dh"]
    whole = {kind: solution[kind] + before.total(kind) for kind in ("mul", "add")}
    slopes = [
        f"{100 * float(mine[1] / printed[1] - 1):+.1f} %"
        for counted in (solution, whole)
        for mine, printed in ((counted["mul"], abm.mul), (counted["add"], abm.add))
    ]
    says = (
        f"from {first} links on: an arm of n links takes {text_of(cost['abm'])} operations",
        f"takes {more:.2f} times as many as ABM on {LENGTHS[-1]} links",
        f"{COUNTS[0].source}, for n revolute joints",
        "multiplications {}, additions {} of the printed ones for the solution alone; {} and {} with".format(
            *slopes
        ),
        f"poses and bias, {text_of(whole['mul'])} and {text_of(whole['add'])}",
        f"they are {found.still['mul'][2]} and {found.still['add'][2]}, printed {crbm.mul[2]}",
        f"cost ABM {found.mul('abm', 'dh_whole')} multiplications",
        f"{found.mul('virtual_work', 'star_spherical')} multiplications for n leaves",
        f"`virtual_work_split` is linear, {found.mul('virtual_work_split', 'star_spherical')}.",
    )
    words = " ".join(text.split())
    return [sentence for sentence in says if sentence not in words]


def markdown(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def _all(polynomials: dict[str, fmpq_poly]) -> fmpq_poly:
    """Operations of every kind together."""
    return sum(polynomials.values(), fmpq_poly())


def _operations(found: Gathered) -> str:
    """The first screen: what orders cost on arms of a few lengths."""
    cost = {name: _all(found.count(name, "dh").polynomials) for name in FIRST_SCREEN}
    rows = [(f"`{name}`", *(f"{int(c(n)):,}" for n in LENGTHS)) for name, c in cost.items()]
    return markdown(("operations", *(f"{n} links" for n in LENGTHS)), rows)


def _published(found: Gathered) -> str:
    rows: list[tuple[str, ...]] = []
    for printed in COUNTS:
        count = found.count(printed.order, "dh").polynomials
        rows.append((f"{printed.method}, printed", text_of(printed.mul), text_of(printed.add), ""))
        rows.append((f"`{printed.order}`", *(text_of(count[kind]) for kind in NAMES)))
    before = (text_of(found.before["dh"].total(kind)) for kind in ("mul", "add"))
    return markdown(("", *NAMES.values()), [*rows, ("before: poses, Phi, a, b", *before, "0")])


def _crossings(found: Gathered) -> str:
    abm, crbm = COUNTS
    rows = [crossover_cells("printed counts", crossings(crbm.polynomials, abm.polynomials))]
    for family in FAMILIES:
        pair = [found.count(order, family) for order in ("crbm", "abm")]
        if all(count.polynomials for count in pair):
            start = max(count.holds_from or 1 for count in pair)
            cells = crossings(pair[0].polynomials, pair[1].polynomials, start)
            rows.append(crossover_cells(f"`{family}`", cells))
    return markdown(CROSSOVER_HEAD, rows)


def _scalar(found: Gathered) -> str:
    parts = []
    for name, family in FAMILIES.items():
        counts = [c for c in found.scalar[name] if isinstance(c, Count)]
        parts.append(f"### `{name}`: {family.what}; n {family.variable}")
        parts.append(markdown(COUNT_HEAD, [count_cells(count) for count in counts]))
        if refused := [text for text in found.scalar[name] if isinstance(text, str)]:
            names = ", ".join(f"`{text.split(' on ')[0]}`" for text in refused)
            parts.append(f"Not possible here: {names}, which pivot on M_k, and frames have no mass.")
        if name in found.before:
            before = found.before[name]
            parts.append(
                f"Poses, Phi, a and b before that: {text_of(before.total('mul'))} multiplications, "
                f"{text_of(before.total('add'))} additions (n >= {before.holds_from}; fitted)."
            )
    return "\n\n".join(parts)


def _listed(name: str, terms: dict[str, fmpq_mpoly]) -> str:
    return "\n".join((f"**`{name}`**", "", *(f"- {what}: {text_of(terms[k])}" for k, what in NAMES.items())))


def _tree(count: BlockCount) -> str:
    """One list item for each kind of operation."""
    lines = [f"**`{count.order}`**", ""]
    for kind, what in NAMES.items():
        texts = [f"- {what}: {count.text(kind)}"]
        texts += [
            f"{part}: {count.text(kind, part)}"
            for part, p in count.parts[kind].items()
            if p and part != "body"
        ]
        lines.append("; ".join(texts))
    return "\n".join(lines)


def figure(style: str) -> Figure:
    """Of docs/counts.md, on the site."""
    crbm, abm = table(["crbm", "abm"], ["dh"])
    return crossing(crbm, abm, style)


def write(folder: Path, drawn: bool, found: Gathered | None = None) -> None:
    """docs/theory/counts.md, for the site."""
    text = (PAGE.parent / "theory" / "counts.md").read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "counts.md").write_text(whole(found or gather(), text), encoding="utf-8")


def main() -> None:
    found = gather()
    PAGE.write_text(page(found, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
