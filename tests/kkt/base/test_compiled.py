"""Loops give the same interpreted and compiled, and work where no compiled code can be kept."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

import pivotree as pt
from pivotree.kkt.base.compiled import njit
from pivotree.kkt.structure import symbolic


def facts(name):
    plan = pt.plan(pt.orderings.get(name), pt.build(pt.humanoid()).structure)
    factor = pt.symbolic(plan)
    arrays = (factor.pivot, factor.parent, factor.column_pointer, factor.column_index, factor.fill_step)
    return (*arrays, factor.levels)


@pytest.mark.parametrize("name", ["crbm", "abm", "constraint_force", "divide_and_conquer", "natural"])
def test_python_interprets_a_loop_as_numba_compiles_it(name, monkeypatch):
    loops = [getattr(symbolic, loop) for loop in ("eliminated", "fill_steps", "levels_of")]
    found = []
    for few in (float("inf"), 0):
        for loop in loops:
            monkeypatch.setattr(loop, "few", few)
        found.append(facts(name))
    for interpreted, compiled in zip(*found, strict=True):
        assert interpreted.dtype == compiled.dtype and np.array_equal(interpreted, compiled)
    for loop in loops:
        vars(loop).pop("on_disk", None)  # it was asked before it was compiled
        assert loop.compiled.signatures and loop.on_disk


def test_without_a_folder_for_compiled_code_a_loop_compiles_all_the_same(monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_LOCATOR_CLASSES", "UserProvidedCacheLocator")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "/dev/null/no")
    with pytest.warns(pt.PivotreeWarning, match="set NUMBA_CACHE_DIR to a folder that you may write") as said:
        twice, thrice = (njit(one, cache=True) for one in (lambda x: 2 * x, lambda x: 3 * x))
    assert (twice(21), thrice(14), len(said)) == (42, 42, 1)


@pytest.mark.parametrize("gone", ["_load_overload", "_guard_against_spurious_io_errors"])
def test_where_numba_has_other_private_parts_it_loads_by_itself(gone, monkeypatch):
    asked = []
    monkeypatch.delattr(f"numba.core.caching.Cache.{gone}")
    for call in ("load_overload", "save_overload"):
        monkeypatch.setattr(f"numba.core.caching.Cache.{call}", lambda *args, call=call: asked.append(call))
    assert njit(lambda x: 2 * x, cache=True)(21) == 42
    assert asked == ["load_overload", "save_overload"]


def test_compiled_code_of_an_installed_file_is_kept_in_the_users_cache_alone(tmp_path):
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "twice.py").write_text(
        "import numba, pivotree.kkt.base.compiled as compiled\n"
        "twice = compiled.njit(lambda x: 2 * x, cache=True)\n"
        "print(twice(21), repr(numba.config.CACHE_LOCATOR_CLASSES))\n"
    )
    env = {name: x for name, x in os.environ.items() if not name.startswith("NUMBA_")}
    env |= dict.fromkeys(["XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"], str(tmp_path / "cache"))
    env["PYTHONPATH"] = os.pathsep.join([str(installed), *filter(None, sys.path)])
    done = subprocess.run([sys.executable, "-c", "import twice"], env=env, capture_output=True, text=True)
    assert done.stdout == "42 ''\n", done.stderr
    assert not list(installed.rglob("*.nb?"))
    assert {path.suffix for path in tmp_path.rglob("*.nb?")} == {".nbi", ".nbc"}
