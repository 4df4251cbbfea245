"""The commands that ``kills.py`` ends: small ones as a whole, and long work."""

import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SWEEP = """output = "s.csv"
models = ["random_tree:n=3,seed={s}"]
orders = ["abm", "crbm", "virtual_work"]
formats = ["float32", "bfloat16"]
[ranges]
s = { from = 1, to = 20, step = 1 }
[states]
number = 2
"""
PIVOTREE = [sys.executable, "-m", "pivotree"]


@dataclass(frozen=True)
class Job:
    """A command, the files beside it, and what it may leave where it is ended."""

    command: list[str]
    files: dict[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()  # folders and files of results so far, which the next run takes up
    changing: tuple[str, ...] = ()  # files that hold times
    warm: bool = False  # forked off a process that has imported all
    together: str = ""  # a folder that takes the place of the old one as a whole


def pivotree(text: str, **given) -> Job:
    return Job([*PIVOTREE, *text.split()], **given)


# the build of these pages, for a project of three
SITE = f"""import sys
sys.path.insert(0, {str(ROOT / "docs" / "site")!r})
import build
build.ROOT, build.EXPLORED = build.Path.cwd() / "project", ["chain:1"]
build.public = lambda: {{"pivotree": ["build", "chain"]}}
build.main()
"""
PAGES = {
    "README.md": "# Project\n\nSee [the pages](docs/index.md).\n",
    "docs/index.md": "# Pages\n\n```{toctree}\n../README\nplay\nreference/commands\nreference/api\n```\n",
    "docs/play.md": "# Play\n\n![a](b.png){.only-light}\n![a](c.png){.only-dark}\n",
    "docs/slides/make.py": "import os, sys\nos.makedirs(sys.argv[1])\n"
    "open(sys.argv[1] + '/a.html', 'w').write('<html></html>')\n",
}
SMALL = {
    "sweep": pivotree("sweep s.toml -j 2 --json --yes", files={"s.toml": SWEEP}, kept=("s.csv.parts",)),
    "sweep_here": pivotree(
        "sweep s.toml -j 1 --json --yes",
        files={"s.toml": SWEEP.replace("to = 20", "to = 8")},
        kept=("s.csv.parts",),
    ),
    "report": pivotree(
        "report random_tree:n=3 --states 40 --orders abm,crbm --formats float32 --yes -o out",
        kept=("out/states.part",),
        changing=("out/report.html", "out/report.pdf", "out/report.json"),
    ),
    "reproduce": pivotree("reproduce ascher1996 --item table2 -o out"),
    "film": pivotree("figure film chain:1 --orders crbm --width single --yes -o film.gif"),
    "guarantee": pivotree("guarantee chain:2 --states 3 --orders abm --json"),
    "tune": pivotree("tune chain:2 --most 3 --yes -o order.json"),
    "site": Job(
        [sys.executable, "-c", SITE, "site"],
        together="site/html/",
        files={f"project/{name}": text for name, text in PAGES.items()}
        | {"site/html/old.html": "what stood here before"},
    ),
    "docs": Job([sys.executable, str(ROOT / "docs" / "site" / "build.py"), "site"]),
}
LARGE = {
    "export": pivotree("export random_tree:n=300 --order crbm --yes -o a.c"),
    "blame": pivotree("blame chain:200 --order crbm --yes"),
    "compare": pivotree("compare random_tree:n=2000 --yes"),
    "solve": pivotree("solve random_tree:n=3000 --certify 50 --yes"),
    "report": pivotree("report random_tree:n=60 --states 100000 --yes -o out"),
    "simulate": pivotree("simulate random_tree:n=300 --seconds 100 --yes"),
    "explore": pivotree("explore random_tree:n=20000 -o page.html"),
    "counts": pivotree("counts -o counts.md"),
    "list": pivotree("list random_tree:n=300 --order crbm --yes"),
    "prove": pivotree("prove"),
    "figure": pivotree("figure film random_tree:n=200 --orders crbm --yes -o film.gif"),
    "spy": pivotree("spy random_tree:n=5000 -o a.png"),
    "guarantee": pivotree("guarantee random_tree:n=40 --states 100000 --yes"),
    "tune": pivotree("tune random_tree:n=40 --most 1000000 --yes -o order.json"),
    "sweep": pivotree(
        "sweep s.toml --yes", files={"s.toml": SWEEP.replace("n=3", "n=30").replace("20", "2000")}
    ),
    "reproduce": pivotree("reproduce all -o out"),
}
