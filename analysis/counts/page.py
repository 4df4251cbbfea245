"""docs/counts.md, generated: the tables of counts and what they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from pivotree import orderings

from . import prose
from .assembly import Assembly, assembly
from .blocks import BlockCount, block_count, chain_count
from .families import FAMILIES
from .kernels import HEAD, KernelCount, kernel_counts, kernel_rows
from .polynomials import Monomial, Polynomial, text_of
from .published import ABM, COUNTS, CRBM, SAYINGS
from .table import Count, crossings, table, without_bias
from .words import (
    COUNT_HEAD,
    CROSSOVER_HEAD,
    Lines,
    block_lines,
    count_cells,
    crossover_cells,
    markdown_table,
    relative,
    wrapped,
)

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
TREES = (
    "crbm",
    "abm",
    "gain_abm",
    "modified_abm",
    "projected_abm",
    "square_root_abm",
    "lagrange",
    "inverse_dynamics",
)
CHAINS = ("crbm_block_row", "virtual_work", "base_to_tip")
FIRST_SCREEN, LENGTHS = ("crbm", "square_root_abm", "abm", "gain_abm"), (3, 7, 30, 100)
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Gathered:
    """All that the page shows."""

    scalar: dict[str, list[Count | str]]  # by family
    trees: list[BlockCount]
    chains: dict[str, dict[str, dict[Monomial, Fraction]]]  # order, kind of operation
    before: dict[str, Assembly]  # families whose assembly is counted
    still: dict[str, Polynomial]  # crbm on dh where every a_k is zero
    kernels: list[KernelCount]  # on dh

    def count(self, order: str, family: str) -> Count:
        return next(c for c in self.scalar[family] if isinstance(c, Count) and c.order == order)


def gather(progress: Progress = lambda text: None) -> Gathered:
    scalar: dict[str, list[Count | str]] = {}
    for family in FAMILIES:
        progress(f"counting {family}")
        scalar[family] = table(ORDERS_OF.get(family, USUAL), [family])
    progress("block counts")
    trees = [count for name in TREES if (count := block_count(orderings.get(name)))]
    chains = {name: terms for name in CHAINS if (terms := chain_count(orderings.get(name)))}
    before = {name: cost for name, family in FAMILIES.items() if (cost := assembly(family))}
    progress("kernels")
    counted = [c for c in scalar["dh"] if isinstance(c, Count) and c.order in USUAL]
    kernels = kernel_counts(counted, FAMILIES["dh"])
    still = without_bias("crbm", FAMILIES["dh"])
    return Gathered(scalar, trees, chains, before, still, kernels)


def page(found: Gathered) -> str:
    """The whole text of docs/counts.md."""
    parts = (
        _result(found),
        [prose.HEAD],
        _published(found),
        _kernels(found),
        _crossings(found),
        _scalar(found),
        [prose.PROOF],
        _blocks(found),
    )
    return "\n\n".join("\n".join(part).strip() for part in parts) + "\n"


def _result(found: Gathered) -> Lines:
    """The first screen: what orders cost on arms of a few lengths, and from where ABM pays."""
    known = {name: found.count(name, "dh").polynomials for name in FIRST_SCREEN}
    cost = {name: _all(polynomials) for name, polynomials in known.items()}
    rows = [(f"`{name}`", *(f"{int(c(n)):,}" for n in LENGTHS)) for name, c in cost.items()]
    first = next(n for n in range(2, 100) if cost["abm"](n) < cost["crbm"](n))
    more = float(cost["square_root_abm"](LENGTHS[-1]) / cost["abm"](LENGTHS[-1]))
    text = prose.RESULT_TEXT.format(first=first, abm=cost["abm"].text(), rotations=f"{more:.2f}")
    heads = ("operations", *(f"{n} links" for n in LENGTHS))
    return [
        prose.RESULT.strip(),
        "",
        wrapped(text),
        "",
        *markdown_table(heads, rows),
        "",
        wrapped(prose.RESULT_NOTE),
        "",
        prose.PICTURE,
    ]


def _all(polynomials: dict[str, Polynomial]) -> Polynomial:
    """Operations of every kind together."""
    return sum(polynomials.values(), Polynomial.of(0))


def _published(found: Gathered) -> Lines:
    before, still = found.before["dh"], found.still
    rows: list[tuple[str, ...]] = []
    for printed in COUNTS:
        count = found.count(printed.order, "dh").polynomials
        rows.append((f"{printed.method}, printed", printed.mul.text(), printed.add.text(), ""))
        rows.append((f"`{printed.order}`", *(count[k].text() for k in ("mul", "add", "div"))))
    rows.append(("before: poses, Phi, a, b", before.total("mul").text(), before.total("add").text(), "0"))
    abm = found.count("abm", "dh").polynomials
    mul, add = (abm[kind] + before.total(kind) for kind in ("mul", "add"))
    text = prose.PUBLISHED.format(
        source=ABM.source,
        mul=relative(abm["mul"], ABM.mul),
        add=relative(abm["add"], ABM.add),
        mul_all=relative(mul, ABM.mul),
        add_all=relative(add, ABM.add),
        all=f"{mul.text()} and {add.text()}",
        still=f"{still['mul'].coefficients[2]} and {still['add'].coefficients[2]}",
        squares=f"{CRBM.mul.coefficients[2]} and {CRBM.add.coefficients[2]}",
        whole=_mul(found, "abm", "dh_whole"),
        star=_mul(found, "virtual_work", "star_spherical"),
        split=_mul(found, "virtual_work_split", "star_spherical"),
    )
    table_lines = markdown_table(("", "multiplications", "additions", "divisions"), rows)
    return ["## Beside the published table", "", *table_lines, "", wrapped(text)]


def _kernels(found: Gathered) -> Lines:
    rows = kernel_rows(found.kernels, FAMILIES["dh"])
    return ["## In a kernel, beside Pinocchio", "", *markdown_table(HEAD, rows), "", wrapped(prose.KERNELS)]


def _mul(found: Gathered, order: str, family: str) -> str:
    return found.count(order, family).polynomials["mul"].text()


def _crossings(found: Gathered) -> Lines:
    rows = [crossover_cells("printed counts", crossings(CRBM.polynomials, ABM.polynomials))]
    for family in FAMILIES:
        pair = [found.count(order, family) for order in ("crbm", "abm")]
        if all(count.polynomials for count in pair):
            start = max(count.holds_from or 1 for count in pair)
            cells = crossings(pair[0].polynomials, pair[1].polynomials, start)
            rows.append(crossover_cells(f"`{family}`", cells))
    says = [f"* {saying.source}: {saying.says}" for saying in SAYINGS]
    return [
        prose.CROSSINGS,
        "",
        *markdown_table(CROSSOVER_HEAD, rows),
        "",
        "What the papers say of it:",
        "",
        *says,
        "",
        prose.CROSSED,
    ]


def _scalar(found: Gathered) -> Lines:
    lines = ["## Scalar counts", ""]
    for name, family in FAMILIES.items():
        counts = [c for c in found.scalar[name] if isinstance(c, Count)]
        lines += [f"### `{name}`: {family.what}; n {family.variable}", ""]
        lines += markdown_table(COUNT_HEAD, map(count_cells, counts))
        lines.append("")
        refused = [text for text in found.scalar[name] if isinstance(text, str)]
        if refused:
            names = ", ".join(f"`{text.split(' on ')[0]}`" for text in refused)
            lines += [f"Not possible here: {names}, which pivot on M_k, and frames have no mass.", ""]
        if name in found.before:
            before = found.before[name]
            lines += [
                f"Poses, Phi, a and b before that: {before.total('mul').text()} multiplications, "
                f"{before.total('add').text()} additions (n >= {before.holds_from}; fitted).",
                "",
            ]
    return lines


def _blocks(found: Gathered) -> Lines:
    lines = [prose.BLOCKS, ""]
    for count in found.trees:
        lines += block_lines(count)
    lines += [prose.BLOCK_CHAINS, ""]
    for name, terms in found.chains.items():
        texts = {kind: text_of(terms[kind], ("n", "N")) for kind in ("mul", "add", "div")}
        lines += [
            f"**`{name}`**",
            "",
            f"- multiplications: {texts['mul']}",
            f"- additions: {texts['add']}",
            f"- divisions: {texts['div']}",
            "",
        ]
    return lines
