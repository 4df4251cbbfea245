"""Command lines with something wrong, drawn with the files that they read."""

import json
import re
import xml.etree.ElementTree as ET

from hostile_words import BODY, COMMANDS, GOOD, HOSTILE, MODEL, output_of, words
from hypothesis import strategies as st
from processes import Case
from strategies import changed, documents

# -- files gone wrong, their structure first -------------------------------------------------------

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
    "lies": lambda text: '<?xml version="1.0" encoding="utf-16"?>' + text,
    "unknown": lambda text: '<?xml version="1.0" encoding="nonsense"?>' + text,
    "half": lambda text: text[: len(text) // 2],
    "twice": lambda text: text + text,
    "noise": lambda text: ["bytes", "".join(chr(k * k % 251) for k in range(2000))],
    "nothing": lambda text: "",
    "zeros": lambda text: "\0" * 5000,
    "crlf": lambda text: text.replace("\n", "\r\n"),
}


def _bytes(text, encoding):
    return ["bytes", text.encode(encoding, "replace").decode("latin-1")]


def _laughs(tag):
    entities = "".join(f'<!ENTITY l{k + 1} "{f"&l{k};" * 10}">' for k in range(9))
    return f'<!DOCTYPE x [<!ENTITY l0 "ha">{entities}]><{tag} name="r">&l9;</{tag}>'


WHOLE_XML = [
    *HOSTILE["no XML"],
    *map(_laughs, ("robot", "mujoco")),
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
def revalued(draw, text):
    """A text, JSON or TOML, with one number or string or two replaced."""
    for _ in range(draw(st.integers(1, 2))):
        words = list(re.finditer(r'-?\d+\.?\d*|"[^"]*"', text))
        if words:
            at = draw(st.sampled_from(words))
            text = text[: at.start()] + draw(st.sampled_from(RAW)) + text[at.end() :]
    return text


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
    return draw(revalued(text))


# -- command lines ---------------------------------------------------------------------------------

PYTHON = """def mine(structure):
    return [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base]
"""
SWEEP = """output = "s.csv"
models = ["chain:1", "two_link:r={r}"]
orders = ["abm"]
formats = ["float32"]
measure = ["error", "flops", "failed_at"]
[ranges]
r = [0.5, 1e-3]
[states]
number = 1
"""
FILES = """models = ["chain:1", { model = "m.json", floating = true }]
orders = ["abm"]
formats = ["float32"]
measure = ["error"]
[states]
number = 1
"""
NAMES = [*HOSTILE["names"], "a" * 10**6, "a" * 500]
NUMBERS = ["nan", "inf", "-inf", "-1", "0", "1", "2", "1e400", "1e-320", str(10**30), "9" * 5000]
TEXTS = ["", ",", "=", "nan", "1,,2", "x" * 10**6, "\u202e", "all", "../x", "-", "--", "{}", "@:"]
NO_FILES = ["fifo", "folder", "loop", "nowhere", "empty", "full", "endless"]
DEVICES = [*HOSTILE["devices"], "x" * 300 + ".json", "x/" * 3000]
QUICK = ["solve", "solve", "solve", "export", "export", "list", "guarantee", "compare", "blame", "simulate"]
DEAR = {"reproduce", "prove", "counts", "report", "explore", "figure", "tune"}  # drawn seldom
NOT_DRAWN = {"--port", "--help"}  # drawn by _served


def _small(text):
    """No size within reach of hours: a digit more than two in a row is a question of size."""
    digits = "".join(c if c.isdigit() else " " for c in text).split()
    return all(len(run) < 3 or len(run) > 25 for run in digits) and not (
        text.startswith(("binary:", "complete")) and any(len(run) > 1 for run in digits)
    )


SMALL_SPECS = st.sampled_from(HOSTILE["specs"]).flatmap(changed).filter(_small)
BAD_SPECS = st.sampled_from([*HOSTILE["bad specs"], "chain:" + "9" * 5000])


def _of_model(draw, file, text):
    command = draw(st.sampled_from(QUICK))
    more = draw(st.sampled_from(["", "", "", *HOSTILE["beside models"]])).split()
    known = COMMANDS[command]._option_string_actions
    return Case(words(command, MODEL=file) + [x for x in more if x.split("=")[0] in known], {file: text})


def _beside(draw):
    option = draw(st.sampled_from(sorted(HOSTILE["files beside"])))
    more = draw(st.sampled_from([[], [], ["--state=random:1"], ["--q=1,2"]]))
    text = draw(jsons(HOSTILE["files beside"][option]))
    return Case(["solve", "chain:2", f"--{option}=x.json", "--json", *more], {"x.json": text})


def _options(draw, dear):
    """Some options of a command with values that they may not have seen, others as flags."""
    command = draw(st.sampled_from(sorted(DEAR if dear else set(COMMANDS) - DEAR - {"sweep"})))
    given = words(command)
    if command == "reproduce" and draw(st.integers(0, 30)):
        given = ["reproduce", "ascher1996", "--item=links"]
    links = {name: [name] for name in ("fifo", "folder", "loop", "nowhere")}
    case = Case(given, {"sweep.toml": SWEEP, **links})
    actions = [a for a in COMMANDS[command]._actions if a.option_strings]
    actions = [a for a in actions if not NOT_DRAWN & set(a.option_strings)]
    flags = [a.option_strings[-1] for a in actions if a.nargs == 0]
    valued = [a for a in actions if a.nargs != 0]
    case.arguments += draw(st.lists(st.sampled_from(flags), max_size=2)) if flags else []
    for _ in range(draw(st.integers(1, 2)) if valued else 0):
        action = draw(st.sampled_from(valued))
        if action is output_of(command):
            value = draw(st.sampled_from([*HOSTILE["places"], "x" * 300, *DEVICES]))
        elif "format" in action.dest and draw(st.booleans()):
            value = draw(st.sampled_from(HOSTILE["formats"]).flatmap(changed).filter(_small))
        elif action.type is not None:
            value = draw(st.sampled_from(NUMBERS))
        else:
            value = draw(st.sampled_from([*TEXTS, *NUMBERS, *NAMES, *DEVICES, *HOSTILE["meant"]]))
        case.arguments.append(f"{action.option_strings[-1]}={value}")
    named = " ".join(case.arguments)
    return Case(case.arguments, {name: x for name, x in case.files.items() if name in named})


def _sweep(draw):
    kind = draw(st.integers(0, 5))
    if kind == 0:
        name = draw(st.sampled_from([*"=+-@\"'\\<"])) + "a.json"
        text = SWEEP.replace('["chain:1",', f"[{json.dumps(name)},")
        return Case(["sweep", "sweep.toml", "-j1"], {"sweep.toml": text, name: GOOD})
    if kind < 3:
        text = draw(changed(SWEEP).filter(_small))
    else:
        text = draw(st.sampled_from([SWEEP, FILES]).flatmap(revalued))
        if draw(st.integers(0, 9)) == 0:
            text = text.replace("s.csv", draw(st.sampled_from(["s.parquet", "x/s.csv", "s", *DEVICES])))
    jobs = draw(st.sampled_from(["-j1"] * 30 + ["-j2", "-j0", "--json"]))
    return Case(["sweep", "sweep.toml", jobs], {"sweep.toml": text, "m.json": GOOD})


def _named(draw):
    """Bodies, a model and a file with names that mean something to those who read what we write."""
    first, second, model = (draw(st.sampled_from(NAMES)) for _ in range(3))
    bodies = [BODY | {"name": first}, BODY | {"name": second, "parent": first, "p": [1, 0, 0]}]
    text = json.dumps(MODEL | {"name": model, "bodies": bodies})
    dear = HOSTILE["named in pages"] if draw(st.integers(0, 7)) == 0 else []
    line = draw(st.sampled_from([*HOSTILE["named"], *dear]))
    command, *more = line.split()
    before = ["tree"] if command == "figure" else []
    return Case([command, *before, "m.json", *more], {"m.json": text})


def _state(draw):
    """A state in options: names and numbers of joints, too many or too few."""
    numbers = st.lists(
        st.sampled_from(["0", "0.5", "-1", "nan", "1e999", "", " ", "x", "1e308", "1_0"]), max_size=4
    ).map(",".join)
    joints = st.sampled_from(["j1", "j2", "j3", "", "j1[0]", "J1", "=", *NAMES[:8]])
    named = st.lists(st.tuples(joints, numbers).map("=".join), max_size=3).map(",".join)
    options = [f"--{x}={draw(numbers | named)}" for x in ("q", "qd", "tau") if draw(st.booleans())]
    command = draw(st.sampled_from(["solve", "compare", "blame", "simulate", "list"]))
    model = draw(st.sampled_from(["chain:2", "chain:2", "four_bar", "random_tree:n=2,joints=floating"]))
    return Case(words(command, MODEL=model) + options)


def _contacts(draw):
    """Points that stick to the ground, and rows of loops, on models with and without them."""
    body = st.sampled_from([*HOSTILE["contacts"], *NAMES[:6]])
    text = ",".join(draw(st.lists(body, max_size=3)))
    more = draw(st.lists(st.sampled_from(HOSTILE["beside contacts"]), max_size=2))
    model = draw(st.sampled_from(["chain:2", "four_bar", "quadruped:feet=4", "binary:2"]))
    return Case(["solve", model, f"--contact={text}", "--json", *more])


def _served(draw):
    """What waits for others: a page that is served until Ctrl-C."""
    port = draw(st.sampled_from([*NUMBERS, "65536", "80", "1.5", "x", "\u0661", "0x50"]))
    around = {} if port not in ("0", "1", "80", "\u0661") else {"ended": 0.5}
    words = f"explore chain:1 --orders=abm --formats=float32 --port={port}"
    return Case(words.split(" "), around=around)


def _no_file(draw):
    what = draw(st.sampled_from(NO_FILES))
    name = draw(st.sampled_from(["m.json", "m.urdf", "m.xml", "m.xacro", "m"]))
    device = draw(st.sampled_from([None, *DEVICES]))
    name, files = (name, {name: [what]}) if device is None else (device, {})
    options = [f"--order={name}", f"--order={name}:f", f"--state={name}", f"--loops={name}"]
    place = draw(st.sampled_from([[name], *(["chain:2", option] for option in options)]))
    if place[0] == "-":
        place = ["./-"]
    return Case(["solve", *place], files)


HOMES = (None, "", "/nowhere", "/proc", "x")
AROUND = st.sampled_from(
    [
        *HOSTILE["streams"],
        *HOSTILE["surroundings"],
        *({"env": {"HOME": home, "XDG_CACHE_HOME": None, "PIVOTREE_CACHE": None}} for home in HOMES),
        *({"env": variables} for variables in HOSTILE["variables"]),
    ]
)


def _around(draw):
    model = draw(st.sampled_from(["m.json", "m.urdf", "chain:3", "binary:3", "nothing.json"]))
    command = draw(st.sampled_from([*QUICK, *QUICK, "orders", "models", "counts"]))
    more = draw(st.sampled_from([[], [], ["--json"], ["--help"]]))
    around = draw(AROUND)
    if more == ["--json"] and "--json" not in COMMANDS[command]._option_string_actions:
        more = []
    return Case(words(command, MODEL=model) + more, {"m.json": GOOD, "m.urdf": URDF}, around)


KINDS = (  # how often each is drawn, and how
    (150, lambda draw: _of_model(draw, "m.json", draw(jsons(MODEL)))),
    (150, lambda draw: _of_model(draw, "m.urdf", draw(marked(URDF)))),
    (2, _served),
    (20, _around),
    (6, lambda draw: _options(draw, True)),
    (60, lambda draw: _of_model(draw, "m.xml", draw(marked(MJCF)))),
    (80, lambda draw: Case(words(draw(st.sampled_from(QUICK)), MODEL=draw(SMALL_SPECS | BAD_SPECS)))),
    (30, lambda draw: Case(["solve", "chain:2", "--order=o.py:mine"], {"o.py": draw(changed(PYTHON))})),
    (150, _beside),
    (60, _sweep),
    (60, _named),
    (80, _no_file),
    (80, _state),
    (40, _contacts),
    (100, lambda draw: _options(draw, False)),
)
TURNS = [kind for count, kind in KINDS for _ in range(count)]  # its ends are drawn too often


@st.composite
def cases(draw):
    """Any case; MJCF is read by MuJoCo, and refused in a sentence where that is missing."""
    return TURNS[draw(st.integers(0, len(TURNS) - 1))](draw)
