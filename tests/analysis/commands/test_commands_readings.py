"""``compare --as`` and ``readings``: orders as programs ship them."""

import json

from pivotree import orderings


def test_programs_are_compared_by_the_command(run):
    code, out, _ = run("compare", "chain:12", "--as", "newton,mjx", "--format", "float32")
    assert code == 0 and "Newton, SolverFeatherstone writes inertias" in out
    assert "the model's own numbers" in " ".join(out.split())


def test_readings_are_listed_with_their_sources(run):
    _, out, _ = run("readings", "--json")
    found = json.loads(out)
    programs = {"mujoco", "mjx", "newton", "pinocchio", "drake", "rbdl", "brax", "jaxsim", "adam", "frax"}
    assert programs <= {one["name"] for one in found}
    assert all(one["order"] in orderings.names() and one["source"] and one["version"] for one in found)
    _, out, _ = run("readings")
    assert all(one["name"] in out for one in found)
