"""A matrix of one's own on the explorer's page: the engine's bits and counts, and no word of robots."""

import json

import numpy as np
import pytest
from explorer_page import counter, status
from test_explorer import in_javascript, needs_node

import pivotree as pt
from pivotree.analysis.explorer import explorer_data, write_page

RNG = np.random.default_rng(3)
X = RNG.normal(size=(9, 9)) * (RNG.random((9, 9)) < 0.5)
DENSE = X + X.T + np.diag([4.0, 5, 0, 4, 6, 4, 5, 0, 7])
ZEROS = DENSE * ~np.eye(9, dtype=bool) + np.diag([5.0, 0, 3, 0, 6, 0, 2, 0, 0])
SADDLE = pt.matrix(np.array([[2.1, 0.3, 1], [0.3, 2.7, 1], [1, 1, 0]]), name="saddle")
BLOCKS = pt.matrix(DENSE, blocks={"a": [8, 0, 2], "b": [1], "c": [3, 4], "d": [6, 7, 5]})


@needs_node
@pytest.mark.parametrize("system", [pt.matrix(DENSE + 3 * np.eye(9)), pt.matrix(ZEROS), BLOCKS, SADDLE])
def test_numbers_and_operations_are_the_engine_s(system):
    names, formats = system.structure.names, ["float64", "float32", "bfloat16"]
    data = json.loads(json.dumps(explorer_data(system, None, ["natural", "bunch_kaufman"], ["float32"])))
    first, second, *rest = data["orders"][0]["groups"]
    own = {"links": "whole", "split": False, "rules": {}, "groups": [[*first, *second], *rest]}
    orders = [*data["orders"], own, own | {"rules": {"couple": "carried", "rank_update": "gain"}}]
    told = in_javascript("end", {"data": data, "orders": orders, "formats": formats})
    for order, row in zip(orders, told, strict=True):
        groups = [[names[b - len(names)] for b in group] for group in order["groups"]]
        sequence = pt.PivotSequence(groups, "o", rules=pt.Rules(**order["rules"]))
        for name, found in zip(formats, row, strict=True):
            exact = pt.eliminate(system, sequence, name)
            by_blocks = np.array(exact.qdd, dtype=float)[np.concatenate(system.rows)]
            assert np.array_equal(by_blocks, found["qdd"]) and found["operations"] == exact.flops


@pytest.mark.browser
def test_a_matrix_on_the_page(opened, tmp_path):
    page = opened(write_page(explorer_data(SADDLE, None, None, ["float32"]), tmp_path / "a.html"))
    said = page.locator("body").inner_text().lower()
    assert not [word for word in ("body", "bodies", "joint", "mass", "qdd", "pdd", "robot") if word in said]
    for key in ("m", "Shift+ArrowDown", "Shift+ArrowDown", "Enter"):
        page.keyboard.press(key)
    assert status(page) == "Refused: x_2 is structurally zero: eliminate x_0 first."
    page.keyboard.press("f")
    assert "digits of x kept in float32" in status(page) and counter(page).startswith("step 3 of 3")
    (tmp_path / "o.json").write_text('[[0, "1"], ["x:2"]]')  # a block by its name alone
    page.set_input_files("input[type=file]", tmp_path / "o.json")
    page.locator(".counter", has_text="step 2 of 2").wait_for()
    with pytest.raises(pt.kkt.SizeError, match="has 151 blocks, and the page draws 150"):
        explorer_data(pt.matrix(np.eye(151)))


def test_an_order_that_meets_a_zero_pivot_takes_no_other_s_answer():
    system = pt.matrix(np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 3]]))
    data = explorer_data(system, None, ["natural", [[2], [1], [0]]], ["float32"])
    assert [row["formats"]["float32"]["digits"] for row in data["orders"]] == [None, 6.45]
