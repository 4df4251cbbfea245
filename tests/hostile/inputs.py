"""Command lines with something wrong, drawn with the files they read: structure first, then noise.

A case is a command line and the files of the folder that it runs in.  A file is a text, or one
word in a list for what is no file: a FIFO, a folder, a link to itself, a link to nowhere.
"""

import json
from dataclasses import dataclass, field

from hostile_words import BODY, COMMANDS, GOOD, MODEL, output_of, words
from hypothesis import strategies as st
from strategies import changed, documents

URDF = """<robot name="r"><link name="base"/><link name="arm"><inertial><origin xyz="0 0 0.1"/>
<mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<origin xyz="0 0 1" rpy="0 0.5 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""
MJCF = """<mujoco model="m"><option gravity="0 0 -9.81"/><worldbody><body name="a" pos="0 0 1">
<joint name="j" type="hinge" axis="0 1 0" damping="0.1"/><geom type="sphere" size="0.1" mass="1"/>
<body name="b" pos="1 0 0"><joint type="slide"/><geom type="box" size=".1 .2 .3" mass="2"/></body>
</body></worldbody></mujoco>"""
ORDER = {
    "schema": "pivotree-order/1", "composites": "general",
    "groups": [[["pdd", k], ["qdd", k], ["f", k]] for k in ("j2", "j1")],
}  # fmt: skip
PYTHON = """def mine(structure):
    return [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base]
"""
STATE = {"schema": "pivotree-state/1", "q": {"j1": 0.3, "j2": -1.0}, "qd": [0, 0.1], "tau": [1, 2]}
LOOPS = {
    "schema": "pivotree-loops/1",
    "loops": [{"name": "pin", "body": "j2", "joint": "point", "at": [1, 0, 0]}],
}
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
SPECS = [
    "chain:3", "random_tree:n=5,seed=1,joints=floating+fixed", "two_link:r=0.5", "robot:ur5",
    "example3:m1=1e8,case=2", "binary:2", "featherstone:4,branching=1.5", "four_bar",
]  # fmt: skip
FORMATS = ["float32", "p11e5:zero", "mp:50", "bfloat16", "double_double", "float64/bfloat16"]

SIGN = "pwned"  # of a name that got out of where names stand
NAMES = [
    f"<script>{SIGN}()</script>", f"<img src=x onerror={SIGN}()>", f"--><script>{SIGN}()</script>",
    f'" onmouseover="{SIGN}()', f"\\input{{{SIGN}}}", f"$(touch {SIGN})", f"`touch {SIGN}`",
    f"*/ {SIGN}(); /*", f"'''\n{SIGN}()\n'''", f'""" + {SIGN}() + """', f"');{SIGN}();//",
    f"\\\n{SIGN}();", f"=HYPERLINK({SIGN})", f"+{SIGN}", f"@{SIGN}", f"-{SIGN}", "", " ", ".", "..",
    "\x1b[31m", "\ud800", "\u202eabc", "a" * 10**6, "a" * 500, "__proto__", "constructor", "NaN",
    "../../x", "a,b", "a=b", "a@1:2:3", '"', "'", "\\", "%s%n", "{0}", "😀", "漢字", "0", "world",
    "a\u2028b", "&lt;", "??/", "_", "a_b^c", "#", "~", "$", "\x00", "j1[0]",
]  # fmt: skip
NUMBERS = ["nan", "inf", "-inf", "-1", "0", "1", "2", "1e400", "1e-320", str(10**30), "9" * 5000]
TEXTS = ["", ",", "=", "nan", "1,,2", "x" * 10**6, "\u202e", "all", "../x", "-", "--", "{}", "@:"]
NO_FILES = ["fifo", "folder", "loop", "nowhere", "empty"]
QUICK = ["solve", "list", "export", "guarantee", "compare", "blame", "simulate"]
NOT_DRAWN = {"--port", "--scheduler", "--help"}  # serve or connect until someone comes
BESIDE = {7: ("order", ORDER), 9: ("state", STATE), 10: ("loops", LOOPS)}  # files of JSON


@dataclass
class Case:
    arguments: list[str]
    files: dict[str, str | list[str]] = field(default_factory=dict)

    def as_json(self) -> str:
        return json.dumps({"arguments": self.arguments, "files": self.files}, indent=1)


def _of_model(draw, file, text):
    command = draw(st.sampled_from(QUICK))
    return Case(words(command, MODEL=file), {file: text})


def _small(text):
    """No size within reach of hours: a digit more than two in a row is a question of size."""
    digits = "".join(c if c.isdigit() else " " for c in text).split()
    return all(len(run) < 3 or len(run) > 25 for run in digits) and not (
        text.startswith(("binary:", "complete")) and any(len(run) > 1 for run in digits)
    )


SMALL_SPECS = st.sampled_from(SPECS).flatmap(changed).filter(_small)
PLACES = st.sampled_from(
    ["out", "a b", "é.svg", "x/y/z", "x" * 300, "out.", ".", "", "fifo", "folder", "loop",
     "nowhere", "folder/x.svg", "fifo/x.svg", "\\", "a\nb.svg"]
)  # fmt: skip


def _options(draw):
    """Some options of a command with values that they may not have seen, others as flags."""
    command = draw(st.sampled_from(sorted(COMMANDS)))
    case = Case(words(command), {"sweep.toml": SWEEP, "fifo": ["fifo"], "folder": ["folder"],
                                 "loop": ["loop"], "nowhere": ["nowhere"]})  # fmt: skip
    actions = [a for a in COMMANDS[command]._actions if a.option_strings]
    actions = [a for a in actions if not NOT_DRAWN & set(a.option_strings)]
    flags = [a.option_strings[-1] for a in actions if a.nargs == 0]
    valued = [a for a in actions if a.nargs != 0]
    case.arguments += draw(st.lists(st.sampled_from(flags), max_size=2)) if flags else []
    if valued:
        action = draw(st.sampled_from(valued))
        if action is output_of(command):
            value = draw(PLACES)
        elif "format" in action.dest and draw(st.booleans()):
            value = draw(st.sampled_from(FORMATS).flatmap(changed).filter(_small))
        elif action.type is not None:
            value = draw(st.sampled_from(NUMBERS))
        else:
            value = draw(st.sampled_from([*TEXTS, *NUMBERS, *NAMES]))
        case.arguments.append(f"{action.option_strings[-1]}={value}")
    named = " ".join(case.arguments)
    return Case(case.arguments, {name: x for name, x in case.files.items() if name in named})


def _named(draw):
    """Bodies, a model and a file with names that mean something to those who read what we write."""
    first, second, model = (draw(st.sampled_from(NAMES)) for _ in range(3))
    bodies = [BODY | {"name": first}, BODY | {"name": second, "parent": first, "p": [1, 0, 0]}]
    text = json.dumps(MODEL | {"name": model, "bodies": bodies})
    command, *more = draw(st.sampled_from([
        ["solve", "--json"], ["compare", "--json", "--orders=abm"], ["blame"], ["blame", "--json"],
        ["list", "--latex", "-o", "a.tex"], ["list", "--python", "-o", "a.py"],
        ["list", "--pseudocode", "-o", "a.txt"], ["export", "-o", "a.c"], ["list"],
        ["explore", "-o", "a.html", "--orders=abm", "--formats=float32"],
        ["guarantee", "--json", "--states=1"], ["simulate", "--json", "--seconds=0.01"],
        ["figure", "-o", "a.svg"],
    ]))  # fmt: skip
    before = ["tree"] if command == "figure" else []
    return Case([command, *before, "m.json", *more], {"m.json": text})


def _no_file(draw):
    what = draw(st.sampled_from(NO_FILES))
    name = draw(st.sampled_from(["m.json", "m.urdf", "m.xml", "m.xacro", "m"]))
    options = [f"--order={name}", f"--order={name}:f", f"--state={name}", f"--loops={name}"]
    place = draw(st.sampled_from([[name], *(["chain:2", option] for option in options)]))
    return Case(["solve", *place], {name: [what]})


@st.composite
def cases(draw):
    """Any case; MJCF is read by MuJoCo, and refused in a sentence where that is missing."""
    kind = draw(st.integers(0, 15))
    if kind < 2:
        return _of_model(draw, "m.json", json.dumps(draw(documents(MODEL))))
    if kind == 2:
        return _of_model(draw, "m.json", draw(changed(json.dumps(MODEL))))
    if kind < 5:
        return _of_model(draw, "m.urdf", draw(changed(URDF)))
    if kind == 5:
        return _of_model(draw, "m.xml", draw(changed(MJCF)))
    if kind == 6:
        return Case(words(draw(st.sampled_from(QUICK)), MODEL=draw(SMALL_SPECS)))
    if kind == 8:
        return Case(["solve", "chain:2", "--order=o.py:mine"], {"o.py": draw(changed(PYTHON))})
    if kind in BESIDE:
        option, good = BESIDE[kind]
        text = json.dumps(draw(documents(good)))
        return Case(["solve", "chain:2", f"--{option}=x.json", "--json"], {"x.json": text})
    if kind == 11:
        if draw(st.booleans()):
            text = draw(changed(SWEEP).filter(_small))
            return Case(["sweep", "sweep.toml", "-j1"], {"sweep.toml": text})
        name = draw(st.sampled_from([*"=+-@\"'\\<"])) + "a.json"
        text = SWEEP.replace('["chain:1",', f"[{json.dumps(name)},")
        return Case(["sweep", "sweep.toml", "-j1"], {"sweep.toml": text, name: GOOD})
    if kind == 12:
        return _named(draw)
    return _no_file(draw) if kind == 13 else _options(draw)
