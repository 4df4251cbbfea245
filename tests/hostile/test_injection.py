"""Names of bodies, models and files are only names, in all that is written: judged by who runs it.

A C preprocessor strips the comments, Python runs the script, LaTeX sets the article, Chromium opens
the pages, poppler looks for code in a PDF: none of them may find a name that does something.
"""

import ast
import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from designs import listed
from hostile_words import BODY, HOSTILE, LIMIT, MODEL, SIGN

from pivotree import kkt, orderings
from pivotree.analysis.sweep.store import csv_lines

COMPILER = shutil.which("cc")
C_NAMES, PYTHON_NAMES, PAGE_NAMES = (HOSTILE[f"names in {x}"] for x in ("C", "Python", "pages"))
FORMULAS = HOSTILE["formulas"]
TEX_NAMES = HOSTILE["names in LaTeX"]  # they open a file, which LaTeX then has written


def model_of(names, title):
    """A model file of a chain of bodies of these names."""
    bodies = [
        BODY | {"name": name, "parent": names[k - 1] if k else None, "p": [1, 0, 0]}
        for k, name in enumerate(names)
    ]
    rates = {"velocity": [0.1] * len(bodies), "effort": [1] * len(bodies)}
    return json.dumps(MODEL | {"name": title, "bodies": bodies} | rates)


@pytest.fixture
def written(run, tmp_path):
    """What a command writes for a model: names of bodies, the model, its file and its order."""

    def write(names, title, *arguments, stem="in"):
        (tmp_path / f"{stem}.json").write_text(model_of(names, title), encoding="utf-8")
        code, out, lines = run(*(f"{stem}.json" if x == "MODEL" else x for x in arguments))
        assert code == 0 and not [line for line in lines if "warning" not in line], lines
        return out

    return write


# -- C and CUDA -----------------------------------------------------------------------------------


def stripped(path, *options):
    """C without its comments and its strings, as a preprocessor with trigraphs has it."""
    words = [COMPILER, "-E", "-P", "-trigraphs", *options, path.name]
    done = subprocess.run(words, cwd=path.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return re.sub(r'"(\\.|[^"\\])*"', '""', done.stdout)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler is installed")
@pytest.mark.product
@pytest.mark.parametrize("name", listed(C_NAMES, 6, pytest.mark.soak))
def test_names_in_c_and_cuda_stay_in_their_comments(written, tmp_path, name):
    stem = name.replace("/", "\u2215")  # no file has a slash in its name
    for k, more in enumerate(([], [])):
        out = f"out{k}.{('c', 'cu')[k]}"
        names = [name, "b"]
        written(names, name, "export", "MODEL", "--order", "abm", *more, "-o", out, stem=stem)
    assert len([*tmp_path.glob("out*")]) == 3
    for path in sorted(tmp_path.glob("out*.[ch]*")):
        language = ["-x", "c++"] if path.suffix == ".cu" else ["-std=c99"]
        text = stripped(path, *language)
        assert "const" in text and not re.search(rf"\b{SIGN}\b", text), path.read_text()[:600]
        if path.suffix == ".c":
            strict = ["-std=c99", "-trigraphs", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
            subprocess.run([COMPILER, *strict, path.name], cwd=tmp_path, check=True)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler is installed")
def test_a_name_that_leaves_its_comment_would_be_seen(tmp_path):
    for text in (f"/* {C_NAMES[0]} */", f"// a ??/\n{SIGN}\n\nint a;", f"/* *??/\n/ {SIGN}"):
        path = tmp_path / "a.c"
        path.write_text(text)
        assert (SIGN in stripped(path)) == ("// a" not in text)


# -- Python ---------------------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.parametrize("name", PYTHON_NAMES)
def test_a_script_of_a_listing_runs_no_name(written, tmp_path, name):
    if not name.isprintable():
        with pytest.raises(AssertionError, match="field 'name'"):
            written([name, "b"], "m", "list", "MODEL", "--style", "python")
        return
    own, done = f"{name.replace('/', '')}.json", []
    (tmp_path / own).write_text(json.dumps([[["pdd", k], ["qdd", k], ["f", k]] for k in ("b", name)]))
    for order in ("abm", own):
        script = written([name, "b"], name, "list", "MODEL", "--style", "python", "--order", order)
        exec(compile(script, "script", "exec"), {"__name__": "__main__", SIGN: lambda: done.append(name)})
        variables = {node.id for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Name)}
        assert not done and SIGN not in variables


# -- LaTeX ----------------------------------------------------------------------------------------


def set_by_latex(folder, document):
    """Whether a name was run while LaTeX set a document, and whether a page came out."""
    (folder / "whole.tex").write_text(document, encoding="utf-8")
    words = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "whole.tex"]
    subprocess.run(words, cwd=folder, capture_output=True, timeout=LIMIT)
    return (folder / f"{SIGN}.txt").exists(), (folder / "whole.pdf").exists()


@pytest.mark.product
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")
@pytest.mark.parametrize("command", ["list --style latex", "figure spy --orders=abm"])
def test_latex_sets_names_and_runs_none(written, tmp_path, command):
    kind, *more = command.split()
    before, after = ([more[0]], more[1:]) if kind == "figure" else ([], more)
    written(TEX_NAMES, TEX_NAMES[0], kind, *before, "MODEL", *after, "-o", "a.tex")
    assert not [*tmp_path.rglob(f"{SIGN}*")]  # LaTeX is asked for the widths of words
    (path,) = tmp_path.glob("a.*")
    text = path.read_text(encoding="utf-8")
    if "\\documentclass" not in text:
        text = r"\documentclass{article}\usepackage{tikz,amsmath}\begin{document}"
        text += rf"\input{{{path.name}}}\input{{a_caption.tex}}\end{{document}}"
    ran, made = set_by_latex(tmp_path, text)
    assert made and not ran


@pytest.mark.product
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")
def test_a_name_that_latex_runs_would_be_seen(tmp_path):
    head = r"\documentclass{article}\begin{document}x "
    for name in TEX_NAMES[:2]:
        assert set_by_latex(tmp_path, head + name + r"\end{document}") == (True, True)
        (tmp_path / f"{SIGN}.txt").unlink()


# -- tables, JSON and PDF -------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.parametrize("name", listed(FORMULAS, 1, pytest.mark.soak))
def test_no_cell_of_a_table_is_a_formula(written, run, tmp_path, name):
    stem = name.replace("/", "")
    order = "abm"
    if not set("+,") & set(stem):  # a plus stands before a dense method, a comma between orders
        order = f"{stem}.json"
        groups = [[["pdd", k], ["qdd", k], ["f", k]] for k in ("b", name)]
        (tmp_path / order).write_text(json.dumps(groups))
    (tmp_path / f"{stem}_m.json").write_text(model_of([name, "b"], name))
    settings = {"output": "s.csv", "models": [f"{stem}_m.json"], "orders": [order]}
    (tmp_path / "s.toml").write_text("".join(f"{k} = {json.dumps(v)}\n" for k, v in settings.items()))
    assert run("sweep", "s.toml", "-j", "1")[0] == 0
    report = ["report", f"{stem}_m.json", "--states", "1", "--formats", "float32", "-o", "r"]
    assert run(*report, "--orders", order)[0] == 0
    motion = ["simulate", f"{stem}_m.json", "--seconds", "0.01", "--order", "abm", "-o", "d"]
    assert run(*motion)[0] == 0
    tables = sorted(tmp_path.rglob("*.csv"))
    rows = [row for path in tables for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8")))]
    cells = [cell for row in rows for cell in row]
    formulas = [cell for cell in cells if cell[:1] in tuple("=+-@\t\r")]
    numbers = [re.fullmatch(r"[-+]?(\d|inf|nan)[\d.e+-]*", cell) for cell in formulas]
    assert len(tables) == 3 and all(numbers), formulas
    assert any(stem in cell for cell in cells)


def test_a_cell_begins_with_an_apostrophe_where_a_spreadsheet_would_compute():
    for name in [*FORMULAS, "@a", "-a,b", "+"]:
        assert next(csv.reader([csv_lines([[name, "1"]])])) == [f"'{name}", "1"]
    assert csv_lines([["-1", "+1e-3", -1.5, "-.5", "", None]]) == "-1,+1e-3,-1.5,-.5,,\n"


def test_json_gives_names_back(written):
    names = ['"}], "x": [{"', "\\u0000", "</script>", "\u00e9\U0001f600", "\\"]
    told = json.dumps(json.loads(written(names, names[0], "blame", "MODEL", "--top=99", "--json")))
    assert [name for name in names if json.dumps(name) not in told] == []


@pytest.mark.product
@pytest.mark.skipif(shutil.which("pdfinfo") is None, reason="poppler is not installed")
def test_a_pdf_holds_no_code(written, tmp_path):
    names = [") /OpenAction << /S /JavaScript /JS (app.alert(1)) >>", "endobj 9 0 obj << /JS (x) >>"]
    written(names, names[0], "figure", "spy", "MODEL", "-o", "a.pdf")
    written(names, names[1], "figure", "film", "MODEL", "--orders", "abm", "-o", "b.pdf")
    for path in (tmp_path / "a.pdf", tmp_path / "b.pdf"):
        told = subprocess.run(["pdfinfo", "-js", path], capture_output=True, text=True, check=True)
        assert not told.stdout.strip() and not told.stderr.strip()
        assert not re.search(rb"\n[^(]*/(JavaScript|OpenAction|Launch|JS)\b", path.read_bytes())


# -- pages, in a browser --------------------------------------------------------------------------

HIT = "window.hits = 0; window.hit = () => { window.hits += 1 };"


@pytest.fixture
def looked_at(chromium):
    """Opens a file; afterwards no name was run, nothing was asked for, no dialog came up."""
    contexts, asked, dialogs = [], [], []

    def look(path, dark=False):
        asked.clear(), dialogs.clear()
        scheme = "dark" if dark else "light"
        contexts.append(chromium.new_context(color_scheme=scheme))
        page = contexts[-1].new_page()
        page.add_init_script(HIT)
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_load_state()
        return page

    def judge(page, *own):
        page.mouse.move(5, 5)
        assert page.evaluate("window.hits") == 0 and not dialogs
        others = [url for url in asked if not url.startswith(("data:", "blob:"))]
        assert {Path(url.split("#")[0]).name for url in others} <= {*own}, others

    yield look, judge
    for context in contexts:
        context.close()


@pytest.mark.parametrize("dark", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_no_name_runs_in_any_view_of_the_explorer_s_page(written, tmp_path, looked_at, dark):
    """Every button of every view is pressed, and every entry of every list chosen."""
    look, judge = looked_at
    short = ["--orders", "abm,crbm", "--formats", "float32"]
    written(PAGE_NAMES[:6], PAGE_NAMES[3], "explore", "MODEL", *short, "-o", "p.html")
    page = look(tmp_path / "p.html", dark)
    page.goto((tmp_path / "p.html").as_uri() + "#tool")
    page.wait_for_selector(".grid svg")
    pressed = 0
    for button in page.locator("button:visible").all():
        if button.count() and button.is_visible() and button.is_enabled():
            button.click(timeout=2000, force=True, no_wait_after=True)
            pressed += 1
            page.keyboard.press("Escape")
    for select in page.locator("select:visible").all():
        for option in range(select.locator("option").count()):
            select.select_option(index=option)
            pressed += 1
    for cell in page.locator(".grid [tabindex], .grid rect").all()[:10]:
        cell.hover(force=True, timeout=2000)
    judge(page, "p.html")
    assert pressed > 15


def test_no_name_runs_in_pages_and_pictures(written, tmp_path, looked_at):
    look, judge = looked_at
    short = "MODEL --orders abm --formats float32"
    commands = {
        "r/report.html": f"report {short} --states 2 -o r",
        "spy.svg": "figure spy MODEL -o spy.svg",
        "film.svg": "figure film MODEL --orders abm -o film.svg",
    }
    for path, command in commands.items():
        written(PAGE_NAMES[:6], PAGE_NAMES[2], *command.split())
        judge(look(tmp_path / path, dark=path != "spy.svg"), Path(path).name)


def test_no_name_runs_in_what_a_notebook_shows(tmp_path, looked_at):
    look, judge = looked_at
    shown = ["<meta charset=utf-8>"]
    for name in PAGE_NAMES:
        tree = kkt.new_tree(name)
        kkt.add_body(tree, name, mass=1.0, com=(0.1, 0, 0), inertia=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])
        system = kkt.build(tree)
        shown += [system._repr_html_(), kkt.eliminate(system, orderings.get("abm"))._repr_html_()]
    (tmp_path / "cell.html").write_text("".join(shown), encoding="utf-8")
    judge(look(tmp_path / "cell.html"), "cell.html")


def test_a_name_that_a_browser_runs_would_be_seen(tmp_path, looked_at):
    look, judge = looked_at
    for name in PAGE_NAMES[:3]:
        (tmp_path / "cell.html").write_text(f"<p>{name}</p>", encoding="utf-8")
        with pytest.raises(AssertionError):
            judge(look(tmp_path / "cell.html"), "cell.html")
