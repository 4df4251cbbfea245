"""What an MJCF file asks for and opens is looked at before MuJoCo's compiler is."""

import os

import pytest

from pivotree.kkt.base.errors import UnreadableError
from pivotree.kkt.model.mjcf import check

INCLUDES = '<mujoco><compiler meshdir="m"/><include file="b.xml"/><include file="none.xml"/></mujoco>'


def checked(folder, text, name="a.xml"):
    path = folder / name
    path.write_text(text)
    check(str(path))


@pytest.mark.parametrize(
    "inner",
    [
        '<size njmax="5000000" nstack="300000000" memory="1G" nkey="3" nuser_body="x"/>',
        '<replicate count="100"><replicate count="1000"/></replicate>',
        '<hfield nrow="nan" ncol="5"/>',
        '<mesh file="gone.stl"/>',
        '<composite count="1000000"/>',
    ],
)
def test_what_robots_ask_for_goes_on_to_the_compiler(tmp_path, inner):
    checked(tmp_path, f"<mujoco>{inner}</mujoco>")


def test_files_that_are_included_are_looked_at_and_must_be_plain(tmp_path):
    (tmp_path / "b.xml").write_text('<mujoco><mesh file="x.stl"/></mujoco>')
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


ATTACHED = """<mujoco><asset><model name="m" file="{}"/></asset>
<worldbody><body name="x">{}</body></worldbody></mujoco>"""
ATTACH = '<attach model="m" body="x" prefix="{}_"/>'
INCLUDE = '<mujoco><include file="{}"/></mujoco>'
HUGE = '<mujoco><size nkey="1e9"/></mujoco>'
COPIES = "<mujoco><worldbody>{}</worldbody></mujoco>"


def written(folder, **texts):
    """Files of a model by their paths, with __ for a slash."""
    for name, text in texts.items():
        path = folder / (name.replace("__", "/") + ".xml")
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    return str(folder / "a.xml")


@pytest.mark.product
@pytest.mark.parametrize(
    "texts",
    [
        {"a": '<mujoco><replicate count="1000"><replicate count="101"/></replicate></mujoco>'},
        {"a": '<mujoco><size nkey="1e9"/></mujoco>'},
        {"a": '<mujoco><flexcomp count="100 100 100"/></mujoco>'},
        {"a": '<mujoco><hfield nrow="100000" ncol="100000"/></mujoco>'},
        {"a": '<mujoco><texture width="100000" height="100000"/></mujoco>'},
        {"a": '<mujoco><size nuser_body="100000000"/></mujoco>'},
        {"a": INCLUDE.format("s/b.xml"), "s__b": INCLUDE.format("c.xml"), "s__c": HUGE},
        {"a": ATTACHED.format(r"s\b.xml", ATTACH), "s__b": INCLUDE.format("c.xml"), "s__c": HUGE},
        {
            "a": COPIES.format('<replicate count="400"><include file="b.xml"/></replicate>'),
            "b": '<mujocoinclude><replicate count="400"/></mujocoinclude>',
        },
        {
            "a": ATTACHED.format("b.xml", f'<replicate count="400">{ATTACH}</replicate>'),
            "b": COPIES.format('<replicate count="400"/>'),
        },
        {
            "a": ATTACHED.format("b.xml", ATTACH * 400),
            "b": ATTACHED.format("c.xml", ATTACH * 400),
            "c": COPIES.format('<replicate count="2"/>'),
        },
        {"a": ATTACHED.format("b.xml", ATTACH), "b": ATTACHED.format("a.xml", ATTACH)},
        {"a": ATTACHED.format("a.xml", ATTACH)},
        {"a": ATTACHED.format("b.xml", ATTACH), "b": INCLUDE.format("a.xml")},
    ],
)
def test_more_than_anyone_has_a_use_for_is_refused(tmp_path, texts):
    """In files within files, too, which MuJoCo finds beside those that name them; and copies of copies."""
    with pytest.raises(UnreadableError, match=r"asks for more than 100,000 copies|names itself"):
        check(written(tmp_path, **texts))


def test_models_that_attach_two_models_each_end_in_a_sentence(tmp_path):
    two = '<mujoco><model name="m" file="{0}.xml"/><model name="n" file="{0}.xml"/></mujoco>'
    texts = {f"m{k}": two.format(f"m{k + 1}") for k in range(40)}
    with pytest.raises(UnreadableError, match="is one of more than 1,000 files"):
        check(written(tmp_path, a=two.format("m0"), **texts))


def test_models_of_one_name_that_are_attached_twelve_times_go_on_to_the_compiler(tmp_path):
    own = COPIES.format('<body name="x"><replicate count="1000"><body/></replicate></body>')
    check(written(tmp_path, a=ATTACHED.format("s/a.xml", ATTACH * 12), s__a=own))
