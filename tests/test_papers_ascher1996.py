"""Ascher, Pai & Cloutier 1996: criteria at reduced size, and cases that it does not print."""

import pytest

from papers.ascher1996 import figure1, loops, structure, table1, table2, tilted, trees


def silent(text):
    pass


def by_item(rows):
    return {row.item: row for row in rows}


def test_table_2_has_every_printed_digit():
    rows = table2.rows(table2.measure(silent))
    assert len(rows) == 21 and all(row.met for row in rows)
    assert by_item(rows)["m1 = 1e+06, case 2, crbm"].ours == ["1.03", "941.76"]
    assert by_item(rows)["m1 = 1e+08, case 2, abm"].ours == ["0", "-"]


def test_table_2_at_other_masses():
    cells = table2.measure(silent, masses=(3e5, 2e7), cases=(2,))
    for cell in cells:
        right = cell.method == "modified_abm"
        assert (abs(cell.summed[1] / cell.exact - 1.0) < 1e-6) is right
        assert table2.rows([cell])[0].met is None  # nothing is printed


@pytest.mark.parametrize("links", [1, 2, 3, 6])
def test_the_zero_structure_of_any_chain(links):
    found = structure.measure(silent, links=links)
    assert all(row.met for row in structure.rows(found))
    assert len(found.circled) == 2 * links


def test_a_wrong_structure_is_missed():
    found = structure.measure(silent)
    other = structure.Found(3, found.rows[::-1], found.circled, found.nonzero, found.error)
    assert not all(row.met for row in structure.rows(other))


def test_figure_1_in_single_and_double_precision():
    rows = by_item(figure1.rows(figure1.measure(silent, angles=61)))
    assert rows["ABM, largest relative error"].met and rows["CRBM, rms relative error"].met
    double = figure1.measure(silent, angles=31, format="float64")
    assert (
        double.rms("crbm") < 1e-11
        and not by_item(figure1.rows(double))["CRBM, rms relative error"].met
    )


def test_turned_frames():
    found = tilted.measure(silent, angles=21, axes=40, seed=3, tilt=30.0)
    rows = tilted.rows(found)
    assert all(row.met is not False for row in rows)
    assert [row.met for row in rows if row.item.startswith("eq (11)")] == [None]


def test_trees_and_loops():
    found = trees.measure(silent, sizes=(6, 32, 64, 128), seeds=2, seed=11)
    assert all(row.met is not False for row in trees.rows(found))
    rows = loops.rows(loops.measure(silent, most=8, loops=5))
    assert len(rows) == 11 and all(row.met for row in rows)


def test_table_1_where_crbm_fails_and_where_it_does_not():
    (stiff,) = table1.measure(silent, ratios=(0.002,), runs=8, seed=5, seconds=3.0)
    assert stiff.single["crbm"].mean > 1.7 * stiff.single["abm"].mean
    assert 0.9 < stiff.double["crbm"].mean / stiff.double["abm"].mean < 1.1
    assert 1e5 < stiff.kappa < 1e6
    (mild,) = table1.measure(silent, ratios=(0.07,), runs=8, seconds=3.0)
    assert 0.85 < mild.single["crbm"].mean / mild.single["abm"].mean < 1.15
    assert table1.rows([mild])[0].met is None  # 0.07 is not in the table
    assert {row.met for row in table1.rows([stiff])} != {True}  # three seconds are not ten
