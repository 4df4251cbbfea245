"""What the explorer's page tells: formulas, digits, blame, costs, names, challenges."""

import re

import pytest
from explorer_page import at_block, click, counter, own, status
from helpers import system_of

from pivotree import analysis, kkt, orderings


@pytest.mark.thorough
def test_formulas_are_math(opened):
    page = opened("chain:3", "abm@1")
    page.mouse.move(*at_block(page, "pdd_j2", "pdd_j2"))
    formula = page.locator(".formula math")
    formula.wait_for()
    told = formula.get_attribute("aria-label")
    assert told.startswith("M hat j2 is M j2 plus Phi j2,j3 M j3 Phi j2,j3 star minus")
    assert formula.locator("msubsup").count() >= 2


@pytest.mark.thorough
def test_heat_shows_digits_lost(opened):
    page = opened("chain:3", "lagrange@4")
    page.select_option("select >> nth=3", "bfloat16")
    page.keyboard.press("h")
    assert page.locator(".legend-heat .heat").count() == 6
    cells = page.locator(".layer").first.locator("rect[fill^='var(--pt-heat']")
    assert cells.count() > 4
    numbers = page.locator(".layer").first.locator("text").all_text_contents()
    lost = [float(text) for text in numbers if re.fullmatch(r"\d(\.\d)?", text)]
    assert len(lost) > 4 and 0.0 < max(lost) <= 2.5
    page.select_option("select >> nth=3", "float64")
    assert "float64 has no shadow" in page.locator(".legend-heat").inner_text()


@pytest.mark.slow
def test_sliders_change_the_example(opened):
    page = opened("example3:m1=1e8,case=2", "abm@2")
    page.get_by_role("slider", name="Mass ratio").fill("9")
    page.get_by_role("slider", name="Tilt").fill("3")
    assert "Mass ratio 1e9, tilt 45°" in status(page)
    assert "the pivot qdd_2" in page.locator("aside").inner_text()  # D_2 is 0, as in Table 2
    page.get_by_role("slider", name="Tilt").fill("0")
    assert "7.2 digits" in page.locator("aside .answer").inner_text()


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["example1", "example2:m1=1e6"])
def test_the_other_examples_have_sliders_too(opened, spec):
    page = opened(spec, "abm@2")
    kept = set()
    for ratio in ("0", "6"):
        page.get_by_role("slider", name="Mass ratio").fill(ratio)
        page.get_by_role("slider", name="Tilt").fill("2")
        assert "tilt" in status(page)
        kept.add(page.locator("aside .answer").inner_text())
    assert len(kept) == 2 and all("against the certified answer" in text for text in kept)


def test_blame_is_told_of_the_block_pointed_at(opened):
    page = opened("chain:3", "abm@3")
    found = analysis.blame(system_of("chain:3"), "abm", "float32", top=8)
    told = page.locator("aside .panel").first
    shares = {c.step: c.share for c in found.pivots}
    for step, body in enumerate(("j3", "j2", "j1"), start=1):
        page.mouse.move(*at_block(page, f"pdd_{body}", f"pdd_{body}"))
        told.get_by_text(f"pdd_{body}, pdd_{body}").wait_for()
        blamed = re.search(r"Blame: step (\d) causes (-?[1-9]\d*|0) % of the error", told.inner_text())
        assert (blamed is not None) == (step in shares)
        if blamed:
            assert blamed[1] == str(step) and abs(float(blamed[2]) - 100 * shares[step]) <= 0.51
    assert shares


def test_challenges_say_how_far_they_are_and_give_hints(opened):
    page = opened("chain:3")
    page.locator("summary", has_text="Challenges").click()
    items = page.locator(".challenges li")
    page.select_option("select >> nth=0", "crbm")
    page.get_by_role("button", name="To the end").click()
    fill, last = (items.nth(k).inner_text() for k in (0, 1))
    assert "6 filled, but replayed" in fill and "6 filled, but replayed" in last
    for words in ("take blocks that few others touch", "A body at a tip has one neighbour"):
        items.first.get_by_role("button", name="Hint").click()
        assert words in items.first.inner_text() and words in status(page)


def test_no_key_meets_challenges_and_no_steps_meet_two(opened):
    page = opened("chain:3", "w")
    page.locator("summary", has_text="Challenges").click()
    reached = page.locator(".challenges li.done")
    page.keyboard.press("f")
    page.locator("[role=status]", has_text="Finished").wait_for()
    assert reached.count() == 0  # ABM, but not by hand
    own(page)
    for k in ("j3", "j2", "j1"):
        page.mouse.move(*at_block(page, f"pdd_{k}", f"pdd_{k}"))
        page.keyboard.press("e")
    assert "This is abm" in status(page) and reached.count() == 1
    page.select_option("select >> nth=3", "bfloat16")
    assert reached.count() == 1
    own(page)
    for k in ("j3", "j2", "j1"):
        click(page, f"pdd_{k}", f"f_{k}")
    for k in ("j3", "j2", "j1"):
        click(page, f"qdd_{k}")
    assert "This is crbm" in status(page) and reached.count() == 2
    page.reload()
    page.locator(".grid svg").first.wait_for()
    assert reached.count() == 2


@pytest.mark.thorough
def test_abm_one_pivot_at_a_time_and_abm_after_another_order_are_told(opened):
    page = opened("chain:3", "w")
    own(page)
    for k in ("j3", "j2", "j1"):
        for kind in ("pdd", "f", "qdd"):
            click(page, f"{kind}_{k}")
    assert "Its pivots are those of abm, one at a time: as brackets they take 456" in status(page)
    page.select_option("select >> nth=0", "crbm")
    page.keyboard.press("Home")
    for k in ("j3", "j2", "j1"):
        page.mouse.move(*at_block(page, f"pdd_{k}", f"pdd_{k}"))
        page.keyboard.press("e")
    assert "This is abm" in status(page)
    assert "your order: this is abm" in page.locator("body").inner_text()


@pytest.mark.thorough
def test_digits_are_a_challenge_where_orders_differ(opened):
    page = opened("example2:m1=1e8")
    page.locator("summary", has_text="Challenges").click()
    told = page.locator(".challenges").inner_text()
    found = re.search(r"Keep (\d+) digits in (\w+), where (\w+) keeps ([\d.]+)", told)
    assert found and float(found[1]) > float(found[4])


def test_an_order_has_one_cost_one_answer_and_one_name(opened):
    """By hand and replayed, the same traced operations and measured digits, at every step."""
    system = system_of("chain:3")
    by_hand = {"abm": "w.p2q2f2.p1q1f1.p0q0f0", "crbm": "w.p2f2.p1f1.p0f0.q2.q1.q0"}
    for name, code in by_hand.items():
        traced = kkt.trace(system, orderings.get(name)).flops
        told = []
        for address in (code, f"{name}@{len(code.split('.')) - 1}"):
            page = opened("chain:3", address)
            assert counter(page).endswith(f"{traced} operations")
            answer = page.locator("aside .answer").inner_text()
            assert "measured by pivotree" in answer
            told.append(re.search(r"[\d.]+ digits", answer)[0])
            row = page.locator("aside tr.now").inner_text().split()
            assert row[0] == name and row[3] == str(traced) and f"{row[4]} digits" == told[-1]
            page.keyboard.press("u")
            told[-1] += counter(page).rpartition("fill")[2]
            page.locator(".views figure", has_text="operations").first.wait_for()
            shown = page.locator("#explorer").inner_html()
            assert "dense operations" not in shown and "operations, dense" not in shown
        assert told[0] == told[1] and told[0].endswith(" operations")


def test_bodies_have_one_name_or_numbers_on_request(opened):
    page = opened("chain:3")
    texts = page.locator(".layer").first
    assert "Bodies:" not in page.locator(".legend").inner_text() and "j3" in texts.inner_text()
    page.get_by_label("names of bodies").uncheck()
    assert "Bodies: 1 = j3, 2 = j2, 3 = j1" in page.locator(".legend").inner_text()
    assert "j3" not in texts.inner_text()


@pytest.mark.thorough
def test_where_multipliers_stand_is_a_challenge(opened, pages):
    """Soft feet condensed first keep no digit; by hand and last, lambda leaves them."""
    spec = "quadruped:feet=2,compliance=1e-6"
    page = opened(pages(spec, ("abm", "crbm", "lambda_first")))
    page.locator("summary", has_text="Challenges").click()
    item = page.locator(".challenges li", has_text="Where does λ stand?")
    found = re.search(r"CRBM keeps ([\d.]+) digits in float32: keep (\d)", item.inner_text())
    assert found and float(found[1]) < 2 < float(found[2])
    system = system_of(spec)
    bodies, n = system.structure.order.tolist(), system.structure.n
    by_hand = ".".join(f"p{k}q{k}f{k}" for k in bodies)
    for code, reached in ((f"w.l0.l1.{by_hand}", False), (f"w.{by_hand}.l0.l1", True)):
        page.goto(page.url.partition("#")[0] + f"#order={code}")
        page.locator(".counter", has_text=f"step {n + 2} of {n + 2}").wait_for()
        assert ("by hand" in item.inner_text()) or reached == (item.get_attribute("class") == "done")
        digits = float(re.search(r"([\d.]+) digits kept", item.inner_text())[1])
        assert (digits >= float(found[2])) == reached
