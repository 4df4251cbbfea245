"""What an MJCF file asks for and opens is looked at before MuJoCo's compiler is."""

import os

import pytest

from pivotree.kkt.base.errors import UnreadableError
from pivotree.kkt.model.mjcf_guard import check

INCLUDES = (
    '<mujoco><compiler meshdir="m"/><include file="b.xml"/><include file="none.xml"/></mujoco>'
)


def checked(folder, text, name="a.xml"):
    path = folder / name
    path.write_text(text)
    check(str(path))


@pytest.mark.parametrize(
    "inner",
    ['<size njmax="5000000" nstack="300000000" memory="1G" nkey="3" nuser_body="x"/>',
     '<replicate count="100"><replicate count="1000"/></replicate>',
     '<hfield nrow="nan" ncol="5"/>',
     '<mesh file="gone.stl"/>', '<composite count="1000000"/>'],
)  # fmt: skip
def test_what_robots_ask_for_goes_on_to_the_compiler(tmp_path, inner):
    checked(tmp_path, f"<mujoco>{inner}</mujoco>")


@pytest.mark.parametrize(
    "inner",
    ['<replicate count="1000"><replicate count="101"/></replicate>', '<size nkey="1e9"/>',
     '<flexcomp count="100 100 100"/>', '<hfield nrow="100000" ncol="100000"/>',
     '<texture width="100000" height="100000"/>', '<size nuser_body="100000000"/>'],
)  # fmt: skip
def test_more_than_anyone_has_a_use_for_is_refused(tmp_path, inner):
    with pytest.raises(UnreadableError, match="asks for more than 100,000 copies"):
        checked(tmp_path, f"<mujoco>{inner}</mujoco>")


def test_files_that_are_included_are_looked_at_and_must_be_plain(tmp_path):
    (tmp_path / "b.xml").write_text('<mujoco><include file="a.xml"/><mesh file="x.stl"/></mujoco>')
    checked(tmp_path, INCLUDES)
    (tmp_path / "m").mkdir()
    os.mkfifo(tmp_path / "m" / "x.stl")
    with pytest.raises(UnreadableError, match=r"<mesh>: file .* is no plain file"):
        checked(tmp_path, INCLUDES)
    (tmp_path / "b.xml").write_text('<mujoco><size nkey="1e9"/></mujoco>')
    with pytest.raises(UnreadableError, match=r"b\.xml: <size>: asks for more"):
        checked(tmp_path, INCLUDES)
    with pytest.raises(UnreadableError, match="is not XML"):
        checked(tmp_path, "<mujoco>")
    with pytest.raises(UnreadableError, match="in the encoding that it names"):
        checked(tmp_path, '<?xml version="1.0" encoding="nonsense"?><mujoco/>')
    with pytest.raises(UnreadableError, match="EntitiesForbidden"):
        checked(tmp_path, '<!DOCTYPE x [<!ENTITY l "ha">]><mujoco model="&l;"/>')
