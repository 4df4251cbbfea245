"""On the explorer's page: the order as a strip of brackets, edited by mouse, touch and keys."""

import random

import pytest
from explorer_page import at_block, counter, drag, shown, status
from helpers import system_of

from pivotree import kkt, orderings
from pivotree.analysis import listing
from pivotree.analysis.cli import main

P, Q, F = 0, 3, 6  # blocks of chain:3: kind * 3 + body, j1 the first


def chip(body, kind=P):
    return f".chip[data-block='{kind + body - 1}']"


def measured(system, order):
    """Fill, operations and height of a strip's brackets, by the engine."""
    names = [[text.split(":") for text in bracket] for bracket in order]
    n = system.structure.n
    groups = [[(kind, system.structure.names[int(b) % n]) for kind, b in bracket] for bracket in names]
    factor = kkt.symbolic(kkt.plan(groups, system.structure))
    return [factor.fill_blocks, kkt.trace(system, groups).flops, factor.height]


def agree(page, system):
    """Heading, menu, address, strip and engine say the same of the order that is seen."""
    order, told = shown(page)
    assert told == measured(system, order)
    heading = page.locator("figure.board h2").first.inner_text()
    menu = page.locator("select").first.input_value()
    assert menu in heading or (menu == "/whole" and heading.startswith("your")), (menu, heading)
    assert counter(page).split(" ·")[0].endswith(f"of {len(order)}")
    return order


def test_a_chip_and_a_bracket_are_dragged(opened):
    system = system_of("chain:3")
    page = opened("chain:3", "crbm@3")
    assert [len(bracket) for bracket in agree(page, system)] == [2, 2, 2, 1, 1, 1]
    drag(page, chip(3, Q), ".bracket:nth-child(1)")  # merged
    assert [len(bracket) for bracket in agree(page, system)] == [3, 2, 2, 1, 1]
    assert "step 3 of 5" in counter(page) and "3 brackets of this order meet other blocks" in status(page)
    assert page.locator(".bracket.changed").count() == 3
    drag(page, ".bracket:nth-child(3) .paren", ".bracket:nth-child(2)", 0.03)  # swapped
    order = agree(page, system)
    assert [bracket[0] for bracket in order] == ["pdd:2", "pdd:0", "pdd:1", "qdd:4", "qdd:3"]
    drag(page, chip(3, Q), ".bracket:nth-child(3)", 0.98)  # out again, to a bracket of its own
    assert [len(bracket) for bracket in agree(page, system)] == [2, 2, 2, 1, 1, 1]
    before = shown(page)
    drag(page, chip(3, F), ".bracket:nth-child(1)", 0.02)
    assert "Refused: f_j3 is structurally zero: eliminate pdd_j3 first" in status(page)
    assert shown(page) == before
    page.mouse.move(0, 0)
    drag(page, chip(3, Q), "xpath=ancestor::body")  # far away from the strip: nothing
    assert shown(page) == before


def test_an_order_is_edited_by_keys_alone(opened):
    system = system_of("chain:3")
    page = opened("chain:3", "abm@3")
    first = page.locator(".strip .paren").first
    first.press("/")  # split into its pivots
    assert [len(bracket) for bracket in agree(page, system)] == [2, 1, 3, 3]
    page.keyboard.press("+")  # joined again: the focus has stayed
    assert page.locator("select").first.input_value() == "abm" and "This is abm" in status(page)
    agree(page, system)
    page.keyboard.press("Shift+ArrowRight")  # swapped with its neighbour
    assert [bracket[0] for bracket in agree(page, system)] == ["pdd:1", "pdd:2", "pdd:0"]
    page.keyboard.press("Shift+ArrowLeft")
    assert page.locator("figure.board h2").first.inner_text() == "abm"
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")  # qdd_j3 out of its bracket, then into the next
    page.keyboard.press("Shift+ArrowRight")
    assert [len(bracket) for bracket in agree(page, system)] == [2, 4, 3]
    page.keyboard.press("Delete")
    assert "1 block left out" in page.locator(".strip .sum").inner_text()
    page.keyboard.press("Shift+ArrowLeft")  # back, at the end
    assert agree(page, system)[-1] == ["qdd:5"]


def test_what_commutes_is_said_to_and_the_order_keeps_its_name(opened):
    page = opened("chain:3", "w.p2f2.p0f0.p1f1.q2.q1.q0")
    for commutes, place in ((True, 0), (False, 2)):  # a bracket has two
        page.locator(".bracket .paren").nth(place).press("Shift+ArrowRight")
        assert ("commutes" in status(page)) == commutes == (page.locator(".bracket.changed").count() == 0)
        agree(page, system_of("chain:3"))


def test_by_touch_and_with_blocks_left(opened):
    page = opened("chain:3", "w.p2f2", has_touch=True)
    page.locator(chip(3, Q)).tap()  # one that is left comes last
    assert "step 2 of 2" in counter(page) and "5 blocks left out" not in page.locator(".sum").inner_text()
    page.locator(".bracket .paren").first.tap()
    assert "step 1 of 2" in counter(page)  # and goes to its step
    page.get_by_role("button", name="Join with the next").tap()
    assert "step 1 of 1" in counter(page)
    page.get_by_role("button", name="Split the bracket").tap()
    assert [len(bracket) for bracket in shown_brackets(page)] == [2, 1]


def shown_brackets(page):
    brackets = page.locator(".strip .bracket:not(.rest)")
    return [item.locator(".chip").all_inner_texts() for item in brackets.all()]


@pytest.mark.parametrize("name", ["abm", "crbm"])
def test_random_edits_are_what_the_engine_makes_of_them(opened, name):
    """Also undone, stepped and loaded again in between: no part of the page falls behind."""
    system, source = system_of("chain:3"), random.Random(name)
    steps = len(kkt.plan(orderings.get(name), system.structure).sequence.groups)
    page = opened("chain:3", f"{name}@{steps}")
    for _ in range(15):
        item = source.choice(page.locator(".strip button:is(.chip, .paren)").all())
        item.press(source.choice(["Shift+ArrowLeft", "Shift+ArrowRight", "/", "+"]))
        if source.random() < 0.3:
            page.keyboard.press(source.choice(["u", "r", "Home", "End"]))
        if source.random() < 0.1:
            before = shown(page), counter(page)
            page.reload()
            page.locator(".strip .sum").wait_for()
            assert (shown(page), counter(page)) == before
        agree(page, system)


# -- the address --------------------------------------------------------------------------------------

FORMATS = ("float64", "p16", "bfloat16", "float16")
OWN = ("w.p1f1.p0f0.q1.q0", "w.p0f0.p1.f1.q1", "s", "w.p1q1f1.p0q0f0@1")


def random_address(source):
    """Some state of example2's page: its order and step, and any of what else can be set."""
    chosen = [f"order={source.choice(['abm@0', 'abm@2', 'crbm@1', 'lagrange@3', *OWN])}"]
    chosen += [
        f"beside={code.partition('@')[0]}"
        for code in source.sample([*OWN, "abm", "crbm"], source.randint(0, 2))
    ]
    either = [
        [f"format={source.choice(FORMATS)}"],
        [f"rows={source.choice(['kind', 'pivots'])}"],
        ["heat=1"],
        [f"fold={source.choice('01')}"],
        ["names=0"],
        [f"ratio={source.choice(['1000000', '10000'])}", f"tilt={source.choice(['0', '45'])}"],
        [f"zoom={source.choice(['2,0.50,0.25', '3,0.00,1.00'])}"],
    ]
    return "&".join([*chosen, *(text for part in either if source.random() < 0.4 for text in part)])


def seen(page):
    """All that is drawn of it, and the address that the page itself gives."""
    page.wait_for_timeout(260)  # that of a moved matrix settles
    shown = "[...document.querySelectorAll('.boards, .controls output, .counter, .legend, aside')]"
    inputs = "[...document.querySelectorAll('.controls :is(select, input)')].map(e => [e.value, e.checked])"
    told = page.evaluate(f"[{shown}.map(e => e.textContent), {inputs}, location.hash]")
    place = page.evaluate("[...document.querySelectorAll('.port')].map(e => [e.scrollLeft, e.scrollTop])")
    return told, place


@pytest.mark.parametrize("most", [9, pytest.param(200, marks=pytest.mark.soak)])
def test_every_state_survives_reload_and_sharing(opened, most):
    """What the address says is seen, at once and in a fresh page; it is the page's own address then."""
    source, found = random.Random(35), set()
    page = opened("example2:m1=1e8")
    base = page.url.partition("#")[0]
    for _ in range(most):
        address = random_address(source)
        page.evaluate("address => (location.hash = address)", address)
        first = seen(page)
        told = first[0][2].removeprefix("#model=example2:m1=1e8&")
        assert sorted(told.split("&")) == sorted(address.split("&")), address
        page.goto("about:blank")
        page.goto(base + first[0][2])
        page.locator(".strip .sum").first.wait_for()
        assert seen(page) == first, address
        found.add(str(first))
    assert len(found) > 0.9 * most


def test_an_address_that_this_page_cannot_show_is_refused_in_words(opened):
    page = opened("chain:3")
    said = "model=chain:4&order=crbm@2&format=float13&rows=diagonal"
    page.evaluate("said => (location.hash = said)", said)
    page.locator(".counter", has_text="step 2 of 6").wait_for()
    assert "does not have the model chain:4, the format float13, the rows diagonal" in status(page)
    assert page.evaluate("location.hash") == "#model=chain:3&order=crbm@2"


def test_back_and_forward_go_from_order_to_order(opened):
    page = opened("chain:3")
    page.select_option("select >> nth=0", "crbm")
    page.get_by_role("button", name="Next step of the order").click()  # a step is no entry of its own
    page.locator(".chip[data-block='5']").press("Shift+ArrowRight")
    page.wait_for_url("**order=w.*")  # what follows within a frame is of the same entry
    page.select_option("select >> nth=3", "bfloat16")
    states = []
    for _ in range(3):
        states.append(seen(page))
        page.go_back()
    assert page.locator("figure.board h2").inner_text() == "abm" and "step 0" in counter(page)
    for state in reversed(states):
        page.go_forward()
        assert seen(page) == state
    assert len({str(state) for state in states}) == 3


# -- two orders beside each other -----------------------------------------------------------------------


def test_two_orders_of_ones_own_are_set_against_each_other(opened):
    system = system_of("chain:3")
    page = opened("chain:3", "crbm@6")
    page.keyboard.press("c")
    page.keyboard.type("before")
    page.keyboard.press("Enter")
    page.locator(".chip[data-block='5']").press("Shift+ArrowRight")  # qdd_j3 and qdd_j2 in one bracket
    page.locator(".strip .paren").nth(2).press("Shift+ArrowRight")
    page.get_by_role("button", name="Show checkpoint before beside").click()
    assert page.locator(".board h2").all_inner_texts() == ["your order", "before"]
    mine, theirs = (kkt.trace(system, groups).flops for groups in (groups_in(page, 0), groups_in(page, 1)))
    told = page.locator(".difference").inner_text()
    assert "First different at bracket 2: (pdd_j2 f_j2) instead of (pdd_j1 f_j1)." in told
    assert f"takes {abs(theirs - mine)} operations {'more' if theirs > mine else 'fewer'}" in told
    assert page.locator(".bracket.different").count() == 2
    before = page.locator(".strip .sum").all_inner_texts()
    page.get_by_role("button", name="Change places").click()
    assert page.locator(".strip .figure").first.inner_text() in before[1]
    assert page.locator("figure.board h2").first.inner_text() == "crbm"
    page.keyboard.press("u")
    page.get_by_role("button", name="Go to checkpoint before").click()
    assert "step 6 of 6" in counter(page) and "Back at checkpoint before" in status(page)


def groups_in(page, which):
    brackets = page.locator(".strip").nth(which).locator(".bracket:not(.rest)")
    names = "e => [...e.querySelectorAll('.chip')].map(c => c.title.split('_'))"
    return [[tuple(pair) for pair in item.evaluate(names)] for item in brackets.all()]


def test_where_the_digits_go_is_said(opened):
    page = opened("example2:m1=1e8", "abm@2")
    page.select_option("select >> nth=1", "crbm")
    told = page.locator(".difference").inner_text()
    assert (
        "digits fewer: crbm loses them at bracket" in told and page.locator(".difference math").count() == 1
    )
    page.select_option("select >> nth=1", "/this")
    assert page.locator(".difference").nth(1).inner_text() == "The two are the same order."


# -- numbers ------------------------------------------------------------------------------------------


def pointed(page, row, column):
    """The panel of the block that is pointed at, and its entries, a list a row."""
    page.mouse.move(*at_block(page, row, column))
    panel = page.locator("aside .panel").first
    panel.locator("strong", has_text=f"{row}, {column}").wait_for()
    rows = "[...document.querySelectorAll('.entries tr')].map(r => [...r.cells].map(c => c.textContent))"
    return panel, page.evaluate(rows)


def test_a_block_shows_what_its_letters_are_and_its_entries(opened):
    system = system_of("chain:3")
    page = opened("chain:3", "w")
    panel, found = pointed(page, "pdd_j3", "pdd_j3")
    last = system.structure.names.index("j3")
    assert [[float(text) for text in row] for row in found] == [
        [pytest.approx(x, rel=1e-6) for x in row] for row in system.entries.M[last].tolist()
    ]
    assert "spatial inertia" in panel.inner_text() and "6×6" in panel.inner_text()
    panel, found = pointed(page, "qdd_j2", "f_j2")
    assert [float(text) for text in found[0]] == system.entries.S[1].tolist()
    _, turned = pointed(page, "f_j2", "qdd_j2")
    assert [row[0] for row in turned] == found[0]
    assert "joint axes" in panel.inner_text()
    page = opened("chain:3", "abm@2")
    page.locator(".forms summary").click()
    page.locator(".forms math").first.wait_for()
    told = page.locator(".forms math").evaluate_all("all => all.map(e => e.textContent)")
    assert "Dj3=Ij3,zz+cj32mj3" in told and "M^j2,16=cj3mj3sin\u2009qj3" in told


def test_wrong_digits_are_struck_out(opened):
    """The last pivot of CRBM is 1 and becomes 0 in float32; a third of the digits of bfloat16 is right."""
    page = opened("example2:m1=1e8", "crbm@4")
    box = page.locator(".grid").bounding_box()
    page.mouse.move(box["x"] + 0.79 * box["width"], box["y"] + 0.79 * box["height"])
    assert page.locator(".entries s").inner_text() == "0"
    assert page.locator(".entries").inner_text().endswith("struck out: 1")
    assert "pivot of the joint" in page.locator(".letters").first.inner_text()
    assert "fails in float32" in page.locator(".strip .sum").inner_text()
    page = opened("chain:3", "abm@2&format=bfloat16")
    _, found = pointed(page, "pdd_j1", "pdd_j1")
    wrong = page.locator(".entries s").all_inner_texts()
    assert len(found) == 6 and 0 < len(wrong) < 36
    for row in page.locator(".entries td:has(s)").all():
        low, high = (float(text.partition(": ")[2]) for text in row.get_attribute("title").split("; "))
        text = row.inner_text()
        kept = text[: len(text.partition("e")[0]) - len(row.locator("s").inner_text())]
        assert not kept.strip("-0.") or abs(low - high) < 10.0 * abs(high) / 10 ** len(kept.strip("-0."))


def test_without_a_model_the_page_is_of_one_on_which_orders_differ(tmp_path, opened):
    path = tmp_path / "x.html"
    assert main(["explore", "--order", "abm,crbm", "--format", "float32", "-o", str(path)]) == 0
    page = opened(path)
    digits = {row.split()[0]: row.split()[-1] for row in page.locator("aside tbody tr").all_inner_texts()}
    assert float(digits["abm"]) > 7 and digits["crbm"] == "fails"
    assert page.get_by_role("slider", name="Mass ratio").is_visible()


# -- the algorithm ------------------------------------------------------------------------------------


def copied(page, kind):
    page.get_by_role("button", name=f"Copy the algorithm as {kind}").click()
    page.locator("[role=status]", has_text=f"as {kind} is copied").wait_for()
    return page.evaluate("navigator.clipboard.readText()")


def test_the_algorithm_writes_itself_and_is_told_as_the_programs_loops(opened, tmp_path, monkeypatch, capsys):
    """Step by step, then as `pivotree list`; the Python of an own order gives what the page computes."""
    allowed = ["clipboard-read", "clipboard-write"]
    page = opened("chain:4", "abm@1", permissions=allowed)
    assert page.locator(".listing li").count() == 1 and page.locator(".listing .loop").count() == 0
    assert "M^_j3 = M_j3 + Phi_j3,j4 M_j4 Phi_j3,j4' - Phi_j3,j4 M_j4 H_j4' D_j4^-1" in copied(page, "text")
    page.get_by_role("button", name="To the end").click()
    told = listing.of(system_of("chain:4"), "abm", "ascher")
    for kind, style in (("text", "text"), ("LaTeX", "latex")):
        assert copied(page, kind) == listing.render(told, style)
    loops = page.locator(".listing .loop").all_inner_texts()
    assert [loop.split("from")[1].strip() for loop in loops] == ["tip to base:", "base to tip:"]
    assert page.locator(".listing .line").count() == len(told.lines()) + 2  # of roots
    assert "pivot of the joint" in page.locator(".listing .letters").inner_text()
    page.locator(".chip[data-block='7']").press("Shift+ArrowRight")
    page.locator(".listing", has_text="pivotree list chain:4 --order FILE.json folds").wait_for()
    assert page.locator(".listing li").count() == 6  # five steps, and the command
    tex = copied(page, "LaTeX")
    assert r"\hat{M}_{j1} = " in tex and tex.count("{") == tex.count("}")
    page.get_by_role("button", name="Share").click()
    page.locator("[role=status]", has_text="This view is copied").wait_for()
    sent = f"pivotree explore chain:4 -o page.html, and open page.html#{page.url.partition('#')[2]}"
    assert page.evaluate("navigator.clipboard.readText()") == sent
    monkeypatch.chdir(tmp_path)
    exec(copied(page, "Python"), {})
    assert capsys.readouterr().out.startswith("[")
    order = orderings.get("mine.json")
    assert kkt.trace(system_of("chain:4"), order).flops == shown(page)[1][1]
    told = listing.of(system_of("humanoid"), "abm", "ascher")  # whose blocks are too many to be named
    assert copied(opened("humanoid", "abm@1", permissions=allowed), "LaTeX") == listing.render(told, "latex")


def test_a_block_has_one_name_where_it_is_formed_and_used(opened):
    page = opened("chain:3", "w.p2f2.p1f1.p0f0.q0.q2.q1@6", permissions=["clipboard-read", "clipboard-write"])
    lines = [line.strip().split(" = ") for line in copied(page, "text").splitlines() if " = " in line]
    formed = [name for name, _ in lines]
    assert len(set(formed)) == len(formed)
    used = " ".join(terms for _, terms in lines)
    for name in formed[:-1]:
        turned = name.replace("L_j1,j3", "L_j3,j1")
        assert name in used or turned in used or name.endswith("'"), name
