"""Robots of packages that are installed: all are read, as Pinocchio reads them."""

import warnings

import numpy as np
import pytest
from helpers import ROOT

from pivotree.kkt.base.errors import ModelError
from pivotree.kkt.model.load import load
from pivotree.kkt.model.modelfile import read_model
from pivotree.kkt.model.robot_data import find_robot, robot_files
from pivotree.kkt.model.tree import compile_tree
from pivotree.kkt.model.urdf import read_urdf

MODELS = ROOT / "tests" / "models"


@pytest.mark.peers
@pytest.mark.parametrize("name", ["ur5", "panda", "anymal_c", "baxter"])
def test_robots_are_the_reference_models(name):
    file = "anymal_c_ff" if name == "anymal_c" else name
    reference = compile_tree(read_model(MODELS / f"{file}.json"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = load(f"robot:{name}", merge_fixed=True)
    mine = compile_tree(tree)
    joints = [tree.nodes[body]["joint_name"] for body in mine.names]
    assert set(joints) == set(reference.names)
    for k, name_of in enumerate(joints):
        there = reference.names.index(name_of)
        assert mine.mass[k] == pytest.approx(reference.mass[there], rel=1e-14)
        np.testing.assert_allclose(mine.com[k], reference.com[there], atol=1e-14)
        np.testing.assert_allclose(mine.inertia[k], reference.inertia[there], atol=1e-13)


@pytest.mark.peers
def test_every_installed_robot_is_read():
    files = robot_files()
    assert len(files) > 60 and all(path.exists() for path, _ in files.values())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path, floating in set(files.values()):
            tree = compile_tree(read_urdf(path, floating, merge_fixed=True))
            assert ("floating" in tree.joint) == floating


@pytest.mark.peers
def test_every_installed_robot_is_what_pinocchio_reads():
    pin = pytest.importorskip("pinocchio")
    for path, floating in set(robot_files().values()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = read_urdf(path, floating, merge_fixed=True)
            mine = compile_tree(tree)
        base = [pin.JointModelFreeFlyer()] if floating else []
        model = pin.buildModelFromUrdf(str(path), *base)
        assert (model.njoints - 1, model.nv) == (mine.n, mine.dof.sum()), path
        for k, body in enumerate(mine.names):
            j = model.getJointId(tree.nodes[body]["joint_name"])
            theirs, place = model.inertias[j], model.jointPlacements[j]
            assert abs(theirs.mass - mine.mass[k]) < 1e-13
            assert np.abs(theirs.lever - mine.com[k]).max() < 1e-13 or mine.mass[k] == 0
            assert np.abs(theirs.inertia - mine.inertia[k]).max() < 1e-13
            assert np.abs(place.rotation - mine.R[k]).max() < 1e-13
            assert np.abs(place.translation - mine.p[k]).max() < 1e-13


@pytest.mark.peers
def test_unknown_robots_are_told_with_their_neighbours():
    assert find_robot("talos")[1] and not find_robot("talos_arm")[1]
    with pytest.raises(ModelError, match="'pandas' is unknown; did you mean panda"):
        load("robot:pandas")


def test_a_missing_package_is_told(monkeypatch):
    monkeypatch.setattr("pivotree.kkt.model.robot_data.robots_folder", lambda: None)
    monkeypatch.setattr("pivotree.kkt.model.descriptions.find_spec", lambda name: None)
    with pytest.raises(ModelError, match="pip install example-robot-data"):
        load("robot:panda")
