"""Command lines with something wrong, drawn with the files that they read."""

import json

from case import Case
from documents import MJCF, URDF, jsons, marked, toml_of
from hostile_words import BODY, COMMANDS, GOOD, MODEL, SIGN, output_of, words
from hypothesis import strategies as st
from strategies import changed, documents

ORDER = {
    "schema": "pivotree-order/1",
    "composites": "general",
    "groups": [[["pdd", k], ["qdd", k], ["f", k]] for k in ("j2", "j1")],
}
PYTHON = """def mine(structure):
    return [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base]
"""
STATE = {"schema": "pivotree-state/1", "q": {"j1": 0.3, "j2": -1.0}, "qd": [0, 0.1], "tau": [1, 2]}
LOOPS = {
    "schema": "pivotree-loops/1",
    "loops": [
        {
            "first": "j1",
            "second": "j2",
            "joint": "revolute",
            "name": "pin",
            "p": [0, 0, 0],
            "p_second": [0, 0, 0],
            "rows": [0],
            "compliance": 1e-4,
            "baumgarte": [1, 2],
        },
        {"body": "j2", "point": [0, 0, -0.02], "normal": [0, 0, 1], "compliance": 1e-8},
    ],
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
    "chain:3",
    "random_tree:n=5,seed=1,joints=floating+fixed",
    "two_link:r=0.5",
    "robot:ur5",
    "example3:m1=1e8,case=2",
    "binary:2",
    "featherstone:4,branching=1.5",
    "four_bar",
]
FORMATS = [
    "float32",
    "p11e5:zero",
    "mp:50",
    "bfloat16",
    "dd",
    "float32+mul=bfloat16",
    "q16.16",
    "q8.8",
    "fixed32",
    "exact",
    "ball:50",
    "p11e5:stochastic:7",
    "tf32",
    "e4m3",
]

NAMES = [
    f"<script>{SIGN}()</script>",
    f"<img src=x onerror={SIGN}()>",
    f"--><script>{SIGN}()</script>",
    f'" onmouseover="{SIGN}()',
    f"\\input{{{SIGN}}}",
    f"$(touch {SIGN})",
    f"`touch {SIGN}`",
    f"*/ {SIGN}(); /*",
    f"'''\n{SIGN}()\n'''",
    f'""" + {SIGN}() + """',
    f"');{SIGN}();//",
    f"\\\n{SIGN}();",
    f"=HYPERLINK({SIGN})",
    f"+{SIGN}",
    f"@{SIGN}",
    f"-{SIGN}",
    "",
    " ",
    ".",
    "..",
    "\x1b[31m",
    "\ud800",
    "\u202eabc",
    "a" * 10**6,
    "a" * 500,
    "__proto__",
    "constructor",
    "NaN",
    "../../x",
    "a,b",
    "a=b",
    "a@1:2:3",
    '"',
    "'",
    "\\",
    "%s%n",
    "{0}",
    "😀",
    "漢字",
    "0",
    "world",
    "a\u2028b",
    "&lt;",
    "??/",
    "_",
    "a_b^c",
    "#",
    "~",
    "$",
    "\x00",
    "j1[0]",
]
NUMBERS = ["nan", "inf", "-inf", "-1", "0", "1", "2", "1e400", "1e-320", str(10**30), "9" * 5000]
MEANT = [
    "abm",
    "all",
    "ascher",
    "fixed32",
    "coupled",
    "fixed",
    "aligned",
    "factored",
    "float32",
    "j1",
    "m",
    "dqdd_dq,f",
    "RK45",
    "flops",
    "digits",
    "general",
    "cholesky",
    "crbm+cholesky",
    "stix",
    "j1=5",
    "1e-4",
]
TEXTS = ["", ",", "=", "nan", "1,,2", "x" * 10**6, "\u202e", "all", "../x", "-", "--", "{}", "@:"]
NO_FILES = ["fifo", "folder", "loop", "nowhere", "empty", "full", "endless"]
DEVICES = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/stdin",
    "/dev/fd/0",
    "/proc/self/mem",
    "/",
    ".",
    "/proc/self/environ",
    "/nowhere/x.json",
    "/dev/tty",
    "~",
    "/etc/passwd/x",
    "//",
    "/sys/x.urdf",
    "file:///x.urdf",
    "C:\\x.urdf",
    "\\\\host\\x.xml",
    "-",
    "x" * 300 + ".json",
    "x/" * 3000,
]
QUICK = ["solve", "solve", "solve", "export", "export", "list", "guarantee", "compare", "blame", "simulate"]
DEAR = {"reproduce", "prove", "counts", "report", "explore", "figure", "spy", "tune"}  # drawn seldom
NOT_DRAWN = {"--port", "--scheduler", "--help"}  # drawn by _served
BESIDE = {"order": ORDER, "state": STATE, "loops": LOOPS}  # files of JSON
TABLE = {
    "output": "s.csv",
    "models": ["chain:1", "two_link:r={r}", {"model": "m.json", "floating": True}],
    "orders": ["abm"],
    "formats": ["float32"],
    "measure": ["error", "flops", "failed_at", "digits"],
    "reference": "double_double",
    "ranges": {"r": {"from": 1e-6, "to": 0.5, "count": 2, "scale": "log"}},
    "states": {"number": 1, "seed": 0, "distribution": "random"},
}
MOTION = TABLE | {
    "models": ["chain:1"],
    "measure": ["steps", "energy_drift"],
    "ranges": {},
    "simulate": {
        "seconds": 0.01,
        "eps": 1e-4,
        "integrator": "cash_karp",
        "step": 0.01,
        "steps": 20,
        "floor": 0.1,
        "state": "float64",
        "clock": "float64",
    },
}


def _small(text):
    """No size within reach of hours: a digit more than two in a row is a question of size."""
    digits = "".join(c if c.isdigit() else " " for c in text).split()
    return all(len(run) < 3 or len(run) > 25 for run in digits) and not (
        text.startswith(("binary:", "complete")) and any(len(run) > 1 for run in digits)
    )


SMALL_SPECS = st.sampled_from(SPECS).flatmap(changed).filter(_small)
BAD_SPECS = st.sampled_from(
    [
        "chain:1e9",
        "chain:-1",
        "chain:0",
        "chain:",
        "chain",
        ":3",
        "chain:1000000000",
        "binary:99",
        "chain:" + "9" * 5000,
        "chain:3,3",
        "chain:n=3,n=4",
        "random_tree:n=0",
        "random_tree:seed=-1",
        "two_link:r=nan",
        "two_link:r=inf",
        "two_link:r=-1",
        "two_link:r=1e400",
        "example3:case=9",
        "robot:",
        "robot:../x",
        "robot:nonsense",
        "four_bar:x",
        "quadruped:feet=-1",
        "quadruped:feet=1e9",
        "comb:1e3",
        "star:nan",
        "chain:\u0663",
        "chain:3 ",
        " chain:3",
        "CHAIN:3",
        "chain:3,axes=q",
    ]
)
PLACES = st.sampled_from(
    [
        "out",
        "a b",
        "\u00e9.svg",
        "x/y/z",
        "x" * 300,
        "out.",
        ".",
        "",
        "fifo",
        "folder",
        "loop",
        "nowhere",
        "folder/x.svg",
        "fifo/x.svg",
        "\\",
        "a\nb.svg",
        *DEVICES,
    ]
)


def _of_model(draw, file, text):
    command = draw(st.sampled_from(QUICK))
    more = draw(
        st.sampled_from(
            [
                [],
                [],
                [],
                ["--floating"],
                ["--keep-fixed"],
                ["--dynamics"],
                ["--mimic=coupled"],
                ["--mimic=fixed"],
                ["--contact=hand"],
                ["--contact=b@1:0:0", "--compliance=1e-3"],
            ]
        )
    )
    known = COMMANDS[command]._option_string_actions
    return Case(words(command, MODEL=file) + [x for x in more if x.split("=")[0] in known], {file: text})


def _beside(draw):
    option = draw(st.sampled_from(sorted(BESIDE)))
    more = draw(st.sampled_from([[], [], ["--random=1"], ["--q=1,2"], ["--proximal=1e-4"]]))
    text = draw(jsons(BESIDE[option]))
    return Case(["solve", "chain:2", f"--{option}=x.json", "--json", *more], {"x.json": text})


def _options(draw, dear):
    """Some options of a command with values that they may not have seen, others as flags."""
    command = draw(st.sampled_from(sorted(DEAR if dear else set(COMMANDS) - DEAR - {"sweep"})))
    given = words(command)
    if command == "reproduce" and draw(st.integers(0, 30)):
        given = ["reproduce", "ascher1996", "--item=links"]
    case = Case(
        given,
        {
            "sweep.toml": SWEEP,
            "fifo": ["fifo"],
            "folder": ["folder"],
            "loop": ["loop"],
            "nowhere": ["nowhere"],
        },
    )
    actions = [a for a in COMMANDS[command]._actions if a.option_strings]
    actions = [a for a in actions if not NOT_DRAWN & set(a.option_strings)]
    flags = [a.option_strings[-1] for a in actions if a.nargs == 0]
    valued = [a for a in actions if a.nargs != 0]
    case.arguments += draw(st.lists(st.sampled_from(flags), max_size=2)) if flags else []
    for _ in range(draw(st.integers(1, 2)) if valued else 0):
        action = draw(st.sampled_from(valued))
        if action is output_of(command):
            value = draw(PLACES)
        elif "format" in action.dest and draw(st.booleans()):
            value = draw(st.sampled_from(FORMATS).flatmap(changed).filter(_small))
        elif action.type is not None:
            value = draw(st.sampled_from(NUMBERS))
        else:
            value = draw(st.sampled_from([*TEXTS, *NUMBERS, *NAMES, *DEVICES, *MEANT]))
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
        table = draw(documents(draw(st.sampled_from([TABLE, MOTION]))))
        text = toml_of(table)
        if draw(st.integers(0, 9)) == 0:
            text = text.replace("s.csv", draw(st.sampled_from(["s.parquet", "x/s.csv", "s", *DEVICES])))
    jobs = draw(st.sampled_from(["-j1"] * 30 + ["-j2", "-j0", "--json"]))
    return Case(["sweep", "sweep.toml", jobs], {"sweep.toml": text, "m.json": GOOD})


def _named(draw):
    """Bodies, a model and a file with names that mean something to those who read what we write."""
    first, second, model = (draw(st.sampled_from(NAMES)) for _ in range(3))
    bodies = [BODY | {"name": first}, BODY | {"name": second, "parent": first, "p": [1, 0, 0]}]
    text = json.dumps(MODEL | {"name": model, "bodies": bodies})
    command, *more = draw(
        st.sampled_from(
            [
                ["solve", "--json"],
                ["compare", "--json", "--orders=abm"],
                ["blame"],
                ["blame", "--json"],
                ["list", "--latex", "-o", "a.tex"],
                ["list", "--python", "-o", "a.py"],
                ["list", "--pseudocode", "-o", "a.txt"],
                ["export", "-o", "a.c"],
                ["list"],
                ["export", "-o", "a.c", "--outputs=qdd,dqdd_dq,f"],
                ["export", "--cuda", "-o", "a.cu"],
                ["guarantee", "--json", "--states=1"],
                ["simulate", "--json", "--seconds=0.01"],
                *LATE[draw(st.integers(0, 7)) == 0],
            ]
        )
    )
    before = ["tree"] if command == "figure" else []
    return Case([command, *before, "m.json", *more], {"m.json": text})


LATE = {
    False: [],
    True: [
        ["explore", "-o", "a.html", "--orders=abm", "--formats=float32"],
        ["figure", "-o", "a.svg"],
        ["report", "-o", "r", "--states=1", "--orders=abm", "--formats=float32"],
        ["compare", "--orders=abm", "-o", "c"],
        ["spy", "-o", "a.svg"],
    ],
}


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
    body = st.sampled_from(
        [
            "j1",
            "j2",
            "j9",
            "",
            "world",
            "j2@1:0:0",
            "j2@nan:0:0",
            "j2@1:2",
            "j2@",
            "@1:2:3",
            "j2@1e308:0:0",
            *NAMES[:6],
        ]
    )
    text = ",".join(draw(st.lists(body, max_size=3)))
    more = draw(
        st.lists(
            st.sampled_from(
                [
                    "--compliance=0",
                    "--compliance=-1",
                    "--compliance=nan",
                    "--proximal=1e-4",
                    "--proximal=0",
                    "--proximal=1e300",
                    "--frames=aligned",
                    "--frames=factored",
                    "--certify=30",
                ]
            ),
            max_size=2,
        )
    )
    model = draw(st.sampled_from(["chain:2", "four_bar", "quadruped:feet=4", "binary:2"]))
    return Case(["solve", model, f"--contact={text}", "--json", *more])


def _served(draw):
    """What waits for others: a page that is served until Ctrl-C, a cluster that is not there."""
    if draw(st.booleans()):
        port = draw(st.sampled_from([*NUMBERS, "65536", "80", "1.5", "x", "\u0661", "0x50"]))
        around = {} if port not in ("0", "1", "80", "\u0661") else {"ended": 0.5}
        return Case(
            ["explore", "chain:1", "--orders=abm", "--formats=float32", f"--port={port}", "--no-browser"],
            around=around,
        )
    address = draw(
        st.sampled_from(
            [
                "",
                "x",
                "tcp://",
                "tcp://127.0.0.1:x",
                "tcp://127.0.0.1:99999",
                "http://x",
                "\u202e",
                "inproc://x",
                "tls://127.0.0.1:1",
            ]
        )
    )
    return Case(["sweep", "sweep.toml", f"--scheduler={address}"], {"sweep.toml": SWEEP})


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


AROUND = st.sampled_from(
    [
        *({"stdout": how} for how in ("closed", "full", "broken", "ascii")),
        *({"stderr": how} for how in ("closed", "full", "broken")),
        {"stdin": "closed"},
        {"stdin": "closed", "stdout": "closed", "stderr": "closed"},
        {"stdout": "full", "stderr": "full"},
        *({"files": n} for n in (4, 6, 8, 12, 20)),
        *({"written": n} for n in (0, 100, 4096)),
        *({"memory": n} for n in (2**27, 2**28)),
        {"nobody": True},
        {"gone": True},
        *({"ended": x} for x in (0.001, 0.002, 0.004, 0.008, 0.016, 0.03, 0.06, 0.1)),
        *(
            {"env": {"HOME": home, "XDG_CACHE_HOME": None, "PIVOTREE_CACHE": None}}
            for home in (None, "", "/nowhere", "/proc", "x")
        ),
        *(
            {"env": {"PIVOTREE_CACHE": x}}
            for x in ("", "off", "/dev/null", "/proc/x", "x", "m.json", "\u202e")
        ),
        *({"env": {"COLUMNS": x}} for x in ("1", "0", "-1", "x", "99999")),
        {"env": {"TERM": "dumb"}},
        {"env": {"TERM": "\x1b"}},
        {"env": {"TMPDIR": "/nowhere"}},
        {"env": {"LANG": "tr_TR", "LC_ALL": "xx"}},
        {"env": {"LINES": "x", "TERM": None}},
    ]
)
APART = st.sampled_from(
    [
        {},
        {"env": {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}},
        {"env": {"PYTHONIOENCODING": "ascii"}},
        {"env": {"PYTHONOPTIMIZE": "2"}},
        {"env": {"MPLBACKEND": "nonsense"}},
        {"env": {"HOME": None}},
        {"env": {"MPLCONFIGDIR": "/nowhere", "HOME": "/nowhere", "NUMBA_CACHE_DIR": "/nowhere"}},
        {"env": {"PATH": ""}},
        {"stdout": "closed"},
        {"stdout": "broken"},
        {"stdout": "full"},
        {"stderr": "closed"},
        {"stdin": "closed"},
        {"stdin": "closed", "stdout": "closed", "stderr": "closed"},
        {"files": 64},
        {"env": {"COLUMNS": "1", "TERM": "dumb"}},
        {"env": {"LC_ALL": "tr_TR.UTF-8"}},
        {"written": 0},
        *({"ended": x / 10} for x in range(1, 16)),
    ]
)
EITHER = ["m.json", "m.urdf", "chain:3", "binary:3", "nothing.json"]


def _around(draw, apart):
    model = draw(st.sampled_from(EITHER))
    command = draw(st.sampled_from([*QUICK, *QUICK, "orders", "models", "counts"]))
    more = draw(st.sampled_from([[], [], ["--json"], ["--help"]]))
    around = dict(draw(APART if apart else AROUND))
    if apart:
        around["apart"] = True
    if more == ["--json"] and "--json" not in COMMANDS[command]._option_string_actions:
        more = []
    return Case(words(command, MODEL=model) + more, {"m.json": GOOD, "m.urdf": URDF}, around)


def _specs(draw):
    return Case(words(draw(st.sampled_from(QUICK)), MODEL=draw(SMALL_SPECS | BAD_SPECS)))


def _python(draw):
    return Case(["solve", "chain:2", "--order=o.py:mine"], {"o.py": draw(changed(PYTHON))})


KINDS = (  # how often each is drawn, and how
    (150, lambda draw: _of_model(draw, "m.json", draw(jsons(MODEL)))),
    (150, lambda draw: _of_model(draw, "m.urdf", draw(marked(URDF)))),
    (1, lambda draw: _around(draw, True)),
    (2, _served),
    (20, lambda draw: _around(draw, False)),
    (6, lambda draw: _options(draw, True)),
    (60, lambda draw: _of_model(draw, "m.xml", draw(marked(MJCF)))),
    (80, _specs),
    (30, _python),
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
