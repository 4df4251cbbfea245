"""The pages of docs/orders: those of the code, whole, and right where it can be checked apart."""

import importlib
import re
import sys

import numpy as np
import pytest
from helpers import ROOT
from oracle import Oracle, needed_height

from pivotree import kkt, orderings

PAGES = ROOT / "docs" / "orders"
QDD = orderings.names()


def file_of(order):
    return f"{order.partition(':')[0]}.md"


def page(order):
    return (PAGES / file_of(order)).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def made():
    """The modules of docs/orders, which is no package."""
    sys.path.insert(0, str(PAGES))
    names = ("make", "brackets", "order_facts", "order_notes", "order_pictures", "loop_pages")
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(PAGES))


@pytest.mark.slow
def test_pages_are_those_of_the_code(made):
    """Stale?  Run ``make pages``."""
    texts = made["make"].texts()
    assert set(texts) == {path.name for path in PAGES.glob("*.md")}
    stale = [n for n, text in texts.items() if (PAGES / n).read_text(encoding="utf-8") != text]
    assert not stale


def test_every_order_has_its_page_and_its_row():
    table = (PAGES / "README.md").read_text(encoding="utf-8")
    for order, function in orderings.ORDERS.items():
        text = page(order)
        assert text.startswith(f"# `{order}`: ") and function.source in text.replace("\\", "")
        for head in ("Brackets", "Elimination", "Listing", "Operations", "Fill and depth", "When to use it"):
            assert text.count(f"\n## {head}\n") == 1
        assert table.count(f"[`{order}`]({file_of(order)})") == 4
        assert "{" not in text.partition("## When to use it")[2]


@pytest.mark.thorough
@pytest.mark.parametrize("order", orderings.LOOPS)
def test_orders_of_loops_have_pages_with_what_the_engine_counts(order):
    """Blocks by booleans that share nothing with the engine; operations by the tape."""
    text, function = page(order), orderings.LOOPS[order]
    table = (PAGES / "README.md").read_text(encoding="utf-8")
    assert text.startswith(f"# `{order}`: ") and function.source in text.replace("\\", "")
    assert table.count(f"[`{order}`]({file_of(order)})") == 1
    soft = order != "closed_early"
    assert ("compliance of 0.01" in text) == soft and "for k in loops" in text
    numbers = r" ([\d,]+) \|" * 8
    found = re.findall(rf"^\| `([a-z_]+(?::[^`]*)?)` \|{numbers}$", text, re.M)
    assert len(found) == 6
    for spec, *cells in found:
        bodies, rows, fill, entries, height, flops, other, beside = (
            int(cell.replace(",", "")) for cell in cells
        )
        loops = kkt.load(spec).graph["loops"]
        system = kkt.build(kkt.load(spec), loops=kkt.softened(loops, 1e-2) if soft else loops)
        of = system.structure
        assert (bodies, rows) == (of.n, len(system.entries.gamma))
        seen, abm = oracle(order, of), oracle("abm", of)
        assert fill == len(seen.fill) and other == len(abm.fill)
        assert entries == sum(np.prod([seen.size[b] for b in ends]) for ends in seen.fill)
        assert height == needed_height(seen, seen.order)
        assert flops == kkt.trace(system, function).flops
        assert beside == kkt.trace(system, orderings.get("abm")).flops


# -- links and pictures -------------------------------------------------------------------------


def anchors(path):
    heads = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.md")), ids=lambda p: p.stem)
def test_links_resolve(path):
    links = re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8"))
    assert len(links) > 3
    for link in links:
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve()
        assert target.is_file() and target.is_relative_to(ROOT), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.thorough
def test_pictures_are_small_and_all_are_used(made):
    pictures = made["order_pictures"]
    light = {name for some in pictures.choose(orderings.ORDERS).values() for name in some}
    light |= set(made["loop_pages"].pictures())
    sizes = {path.name: path.stat().st_size for path in PAGES.glob("*.png")}
    assert set(sizes) == light | {pictures.twin(name) for name in light}
    assert max(sizes.values()) < 40_000 and sum(sizes.values()) < 1_500_000


@pytest.mark.thorough
def test_pictures_say_what_they_show(made, tmp_path):
    """A film's captions count the fill of the oracle, and the file is written whole."""
    pictures = made["order_pictures"]
    films = pictures.choose_pictures({"crbm": orderings.get("crbm")})["crbm"]
    assert [film.spec for film in films] == ["chain:3", "star:3"]
    for film in films:
        figure = film.figure()
        fill = len(oracle("crbm", kkt.build(kkt.from_spec(film.spec)).structure).fill)
        assert f"after all {6 if film.spec == 'chain:3' else 8}: fill {fill}" in {
            text.get_text() for text in figure.texts
        }
        pictures.write(figure, tmp_path / film.file)
        assert (tmp_path / film.file).read_bytes()[:4] == b"\x89PNG"
    assert len(list(tmp_path.iterdir())) == 2


def test_branching_is_drawn_where_it_matters(made):
    pictures = made["order_pictures"]
    drawn = {order for order, some in pictures.choose(orderings.ORDERS).items() if len(some) > 1}
    assert {"crbm", "virtual_work", "base_to_tip"} <= drawn
    assert not drawn & {"abm", "bad_abm", "lagrange", "minimum_degree", "inverse_dynamics"}


# -- fill and height ----------------------------------------------------------------------------


def oracle(order, of):
    sequence = kkt.plan(orderings.get(order), of).sequence
    return Oracle(sequence.groups, of.with_links(sequence.links))


def rows(text, columns):
    """{specification: numbers} of a table on a page."""
    numbers = r" (\d+) \|" * columns
    found = re.findall(rf"^\| `([a-z_]+:[^`]*)` \|{numbers}$", text, re.M)
    return {spec: [int(x) for x in numbers] for spec, *numbers in found}


@pytest.mark.thorough
@pytest.mark.parametrize("order", QDD)
def test_fill_and_height_are_those_of_booleans(order):
    """Against elimination of a dense boolean matrix, which shares nothing with the engine."""
    found = rows(page(order), 4)
    assert len(found) == 4
    for spec, (bodies, fill, entries, height) in found.items():
        of = kkt.build(kkt.from_spec(spec)).structure
        seen = oracle(order, of)
        size = seen.size
        assert bodies == of.n and fill == len(seen.fill)
        assert entries == sum(np.prod([size[b] for b in ends]) for ends in seen.fill)
        assert height == needed_height(seen, seen.order)


def test_inverse_dynamics_is_a_permutation_to_a_triangle():
    """Rows and unknowns of the matrix itself, qdd known and tau unknown: nothing above."""
    order = "inverse_dynamics"
    for spec, (_, fill, _, height) in rows(page(order), 4).items():
        system = kkt.build(kkt.from_spec(spec))
        matrix = system.matrix.toarray() != 0
        pairs = orderings.get(order)(system.structure)
        where = system.blocks
        depth = {}
        for i, (row, unknown) in enumerate(pairs):
            needs = []
            for j, (_, other) in enumerate(pairs):
                # the effort is the unknown of its own row alone
                if other[0] == "tau":
                    there = row == ("qdd", other[1])
                else:
                    there = matrix[where[row], where[other]].any()
                assert not (there and j > i), "an unknown that is not solved yet"
                needs += [other] if there and j < i else []
            depth[unknown] = 1 + max((depth[b] for b in needs), default=0)
        assert fill == 0 and height == max(depth.values())


@pytest.mark.parametrize("order", QDD)
def test_longest_paths_are_as_long_as_they_should_be(order, made):
    path = re.search(r"^    (\S+ → .*)$", page(order), re.M)[1].split(" → ")
    of = kkt.build(kkt.from_spec("chain:4")).structure
    seen = oracle(order, of)
    assert len(path) == len(set(path)) == needed_height(seen, seen.order)


def test_formulas_meet_the_numbers_beside_them(made):
    """Each formula in the table of orders, with the numbers of its row put in."""
    facts = made["order_facts"]
    text = (PAGES / "README.md").read_text(encoding="utf-8").partition("## Fill and height")[2]
    line = re.compile(
        r"^\| \[`(.+?)`\]\(.+?\) \| (.*?) \| (\d+) \| (\d+) \| (\d+) \| (.*?) \| "
        r"(\d+) \| (\d+) \|$",
        re.M,
    )
    seen = 0
    for _, fill, *numbers in line.findall(text):
        height = numbers[3]
        for formula, specs, values in (
            (fill, ("chain:10", "star:10", "binary:3"), numbers[:3]),
            (height, ("chain:10", "binary:3"), numbers[4:]),
        ):
            bare, _, scope = formula.partition(" (")
            if not bare or "2^k" in scope:
                continue
            python = re.sub(r"(\d) ([a-zA-Z])", r"\1*\2", bare)
            for spec, value in zip(specs, values, strict=True):
                if scope and not spec.startswith("chain"):
                    continue
                of = facts.system(spec).structure
                children = np.bincount(of.parent[of.parent >= 0], minlength=of.n)
                letters = {
                    "n": of.n,
                    "r": int((of.parent < 0).sum()),
                    "D": int(of.depth.sum()),
                    "h": int(of.depth.max()) + 1,
                    "Q": int((children**2).sum()),
                }
                assert eval(python, {}, letters) == int(value), (formula, spec)
                seen += 1
    assert seen > 50


# -- brackets -----------------------------------------------------------------------------------


def expanded(lines, bodies):
    """Groups that the lines of a bracket sequence stand for, bodies taken in their order."""
    groups = []
    for line in lines:
        joined = re.fullmatch(r"\((.*), k = 1\.\.n\)\s+(.*)", line)
        many = re.fullmatch(r"(\(.*\))\s+for k = 1\.\.n, (.*)", line)
        pivots, course = (joined or many).groups()
        way = bodies if course in ("tip to base", "as listed") else bodies[::-1]
        one = [part.replace("_k", "").split() for part in re.findall(r"\(([^)]*)\)", pivots)]
        if joined:
            groups.append([(kind, k) for k in way for kind in pivots.replace("_k", "").split()])
        else:
            groups += [[(kind, k) for kind in kinds] for k in way for kinds in one]
    return groups


FOLDED = [order for order in QDD if order not in ("random:0", "modified_abm_stretched")]


@pytest.mark.parametrize("order", FOLDED)
def test_brackets_on_a_page_are_the_groups_of_the_order(order):
    lines = re.search(r"## Brackets\n\n```\n(.*?)\n```", page(order), re.S)[1].split("\n")
    free = [line for line in lines if "odd-even" in line or "nested" in line]
    tree = kkt.chain(5)
    of = kkt.build(tree).structure
    bodies = of.tip_to_base if order != "natural" else list(of.names)
    groups = [[tuple(b) for b in group] for group in orderings.get(order)(of)]
    told = expanded([line for line in lines if line not in free], bodies)
    assert groups[: len(told)] == told
    if free:  # the course is tested below; here that all constraint forces are there
        assert sorted(groups[len(told) :]) == sorted([[("fC", k)] for k in bodies])
    else:
        assert len(groups) == len(told)


def test_courses_are_told_apart(made):
    """Orders of the reader's own: by the middle, by every other body, or by no rule."""
    of = made["brackets"].sequence_of

    def by(bodies_of):
        return lambda structure: [[("pdd", k), ("f", k), ("qdd", k)] for k in bodies_of(structure)]

    def halves(names):
        mid = len(names) // 2
        return [*halves(names[:mid]), *halves(names[mid + 1 :]), names[mid]] if names else []

    def others(names):
        return [*names[::2], *others(names[1::2])] if names else []

    def course(bodies_of):
        return [phase.course for phase in of(by(bodies_of)).phases]

    assert course(lambda s: s.tip_to_base) == ["tip to base"]
    assert course(lambda s: s.base_to_tip) == ["base to tip"]
    assert course(lambda s: list(s.names)) == ["as listed"]
    assert course(lambda s: halves(s.tip_to_base)) == ["nested"]
    assert course(lambda s: others(s.tip_to_base)) == ["odd-even"]
    assert course(lambda s: sorted(s.names, key=lambda k: (k * 7) % 5)) == []


def test_sequences_fold_where_all_bodies_are_alike(made):
    def hands(structure):
        tips = [k for k in structure.tip_to_base if not structure.children(k)]
        rest = [k for k in structure.tip_to_base if structure.children(k)]
        return [[("pdd", k), ("f", k)] for k in (*tips, *rest)] + [[("qdd", k)] for k in (*tips, *rest)]

    sequence = made["brackets"].sequence_of(hands)
    assert [phase.pivots for phase in sequence.phases] == ["(pdd_k f_k)", "(qdd_k)"]
    stretched = made["brackets"].sequence_of(orderings.get("modified_abm_stretched"))
    assert stretched.phases[0].pivots == "(pdd_k f_k [pdd'_k f'_k] qdd_k)"
    assert not made["brackets"].sequence_of(orderings.get("random:0")).phases


def test_minimum_degree_finds_the_sequence_of_bad_abm(made):
    of = made["brackets"].sequence_of
    assert of(orderings.get("minimum_degree")).phases == of(orderings.get("bad_abm")).phases


# -- notes --------------------------------------------------------------------------------------


def test_no_order_is_shallower_than_divide_and_conquer_on_deep_trees():
    for spec in ("chain:31", "binary:5", "comb:10", "humanoid"):
        of = kkt.build(kkt.from_spec(spec)).structure
        height = {o: kkt.symbolic(kkt.plan(orderings.get(o), of)).height for o in QDD}
        assert height["divide_and_conquer"] == min(height.values())


def test_notes_type_no_figures(made):
    """Every figure of a judgement comes from data or code."""
    notes = made["order_notes"].notes()
    assert set(notes) <= set(orderings.ORDERS | orderings.LOOPS)
    for order, note in notes.items():
        bare = re.sub(r"\{[^{}]*\}", "", note["when"])
        bare = re.sub(r"\b(float32|1e4|1e9|(chain|star|binary|tree):\d+|n\^\d)\b", "", bare)
        names = r"Example \d|Table \d|equation \(\d+\)|1/m|50 bodies|30 degrees|the 0|\(4\)"
        bare = re.sub(names, "", bare)
        assert not re.search(r"\d", bare), (order, bare)
