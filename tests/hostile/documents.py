"""Files gone wrong: documents, marked-up texts and configurations, their structure first."""

import json
import re
import xml.etree.ElementTree as ET

from hostile_words import HOSTILE
from hypothesis import strategies as st
from strategies import changed, documents

URDF = """<robot name="r"><link name="base"/><link name="arm"><inertial><origin xyz="0 0 0.1"/>
<mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<origin xyz="0 0 1" rpy="0 0.5 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<link name="hand"><inertial><mass value="2"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0"
iyz="0"/></inertial></link><joint name="k" type="continuous"><parent link="arm"/>
<child link="hand"/><axis xyz="1 0 0"/><dynamics damping="0.1" friction="0"/>
<mimic joint="j" multiplier="2" offset="0.1"/></joint></robot>"""
MJCF = """<mujoco model="m"><compiler angle="radian"/><option gravity="0 0 -9.81"/><worldbody>
<body name="a" pos="0 0 1"><joint name="j" type="hinge" axis="0 1 0" damping="0.1"/>
<geom type="sphere" size="0.1" mass="1"/><body name="b" pos="1 0 0"><joint name="k" type="slide"/>
<geom type="box" size=".1 .2 .3" mass="2"/></body></body><body name="c"><freejoint/>
<geom type="sphere" size="0.1" mass="1"/></body></worldbody><equality>
<connect body1="b" body2="c" anchor="0 0 0"/><joint joint1="j" joint2="k"/></equality></mujoco>"""
VALUES = [*HOSTILE["values of markup"], "9" * 400, "x" * 3000]
ENCODED = {
    "bom": lambda text: "\ufeff" + text,
    "utf-16": lambda text: _bytes(text, "utf-16"),
    "latin-1": lambda text: _bytes(text.replace('"', '"\xe9', 1), "latin-1"),
    "utf-32": lambda text: _bytes(text, "utf-32"),
    "lies": lambda text: '<?xml version="1.0" encoding="utf-16"?>' + text,
    "unknown": lambda text: '<?xml version="1.0" encoding="nonsense"?>' + text,
    "half": lambda text: text[: len(text) // 2],
    "twice": lambda text: text + text,
    "noise": lambda text: ["bytes", "".join(chr(k * k % 251) for k in range(2000))],
    "nothing": lambda text: "",
    "blank": lambda text: " \n\t ",
    "zeros": lambda text: "\0" * 5000,
    "crlf": lambda text: text.replace("\n", "\r\n"),
}


def _bytes(text, encoding):
    return ["bytes", text.encode(encoding, "replace").decode("latin-1")]


def _laughs(tag):
    entities = "".join(f'<!ENTITY l{k + 1} "{f"&l{k};" * 10}">' for k in range(9))
    return f'<!DOCTYPE x [<!ENTITY l0 "ha">{entities}]><{tag} name="r">&l9;</{tag}>'


def _chain(n, close=False):
    """Links in a row, the last of them carrying the first where it is closed."""
    links = "".join(f'<link name="l{k}"/>' for k in range(n))
    joint = '<joint name="j{0}" type="fixed"><parent link="l{1}"/><child link="l{2}"/></joint>'
    joints = "".join(joint.format(k, k, k + 1) for k in range(n - 1))
    return f'<robot name="r">{links}{joints}{joint.format("z", n - 1, 0) if close else ""}</robot>'


WHOLE_XML = [
    *HOSTILE["no XML"],
    *map(_laughs, ("robot", "mujoco")),
    *(_chain(n, True) for n in (1, 2, 3, 300)),
    _chain(300),
    "<robot name='r'>" + "<a>" * 3000 + "</a>" * 3000 + "</robot>",
    "<a>" * 100_000,
]


@st.composite
def marked(draw, good):
    """XML whose elements are removed, doubled, moved or given other attributes; or no XML."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.sampled_from(WHOLE_XML))
    if kind == 1:
        return ENCODED[draw(st.sampled_from(sorted(ENCODED)))](good)
    if kind < 4:
        return draw(changed(good))
    top = ET.fromstring(good)
    for _ in range(draw(st.integers(1, 3))):
        pairs = [(owner, child) for owner in top.iter() for child in owner]
        if not pairs:
            break
        owner, child = draw(st.sampled_from(pairs))
        what = draw(st.sampled_from(["set", "set", "set", "drop", "new", "double", "remove", "move"]))
        if what == "set" and child.attrib:
            child.set(draw(st.sampled_from(sorted(child.attrib))), draw(st.sampled_from(VALUES)))
        elif what == "drop" and child.attrib:
            del child.attrib[draw(st.sampled_from(sorted(child.attrib)))]
        elif what == "new":
            name = draw(st.sampled_from(["name", "type", "range", "ref", "armature", "class", "x"]))
            child.set(name, draw(st.sampled_from(VALUES)))
        elif what == "double":
            owner.append(child)
        elif what == "remove":
            owner.remove(child)
        elif what == "move":
            new = draw(st.sampled_from(pairs))[0]
            if new is not child and new not in list(child.iter()):
                owner.remove(child)
                new.append(child)
    return ET.tostring(top, encoding="unicode")


RAW = [*HOSTILE["values of JSON"], "1" * 5000]
WHOLE_JSON = [
    *HOSTILE["no JSON"],
    "[" * 100_000,
    "[" * 100_000 + "]" * 100_000,
    '{"a":' * 100_000 + "1" + "}" * 100_000,
    "9" * 100_000,
]


@st.composite
def jsons(draw, good):
    """JSON with values of its structure, single numbers or letters replaced; or no JSON."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.sampled_from(WHOLE_JSON))
    text = json.dumps(good)
    if kind == 1:
        return ENCODED[draw(st.sampled_from(sorted(ENCODED)))](text)
    if kind == 2:
        return draw(changed(text))
    if kind < 6:
        return json.dumps(draw(documents(good)))
    for _ in range(draw(st.integers(1, 2))):
        words = list(re.finditer(r'-?\d+\.?\d*|"[^"]*"', text))
        if words:
            at = draw(st.sampled_from(words))
            text = text[: at.start()] + draw(st.sampled_from(RAW)) + text[at.end() :]
    return text


def toml_of(table):
    """The tables of a configuration as TOML; what TOML cannot say stands there as JSON has it."""
    tops = [f"{key} = {_value(x)}" for key, x in table.items() if not isinstance(x, dict)]
    for name, rows in table.items():
        if isinstance(rows, dict):
            tops += [f"[{name}]", *(f"{_key(key)} = {_value(x)}" for key, x in rows.items())]
    return "\n".join(tops) + "\n"


def _key(key):
    return key if re.fullmatch(r"[\w-]+", key, re.A) else json.dumps(key)


def _value(x):
    if isinstance(x, dict):
        return "{" + ", ".join(f"{_key(key)} = {_value(y)}" for key, y in x.items()) + "}"
    if isinstance(x, list):
        return "[" + ", ".join(map(_value, x)) + "]"
    return "''" if x is None else json.dumps(x).replace("Infinity", "inf").replace("NaN", "nan")
