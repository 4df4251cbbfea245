"""On the explorer's page: the order as a strip of brackets, edited by mouse, touch and keys."""

import random

import pytest
from explorer_page import counter, drag, shown, status
from helpers import system_of

from pivotree import kkt, orderings

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
    for _ in range(25):
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
