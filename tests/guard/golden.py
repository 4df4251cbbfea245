"""What the command line prints and writes, letter by letter, against golden files that were read.

``python tests/guard/golden.py`` runs the command lines of ``commands.toml`` and compares exit status,
both streams and the files written with the texts in ``golden/``; it prints what differs and exits with
1 where anything does.  A difference is a question: read it, then mend the code, or keep the new text by
``--write NAME``, which prints the difference once more.  Nobody writes a file anew unread.

Numbers are the same on every x86-64 machine: numpy and OpenBLAS, which choose instructions by the
processor and differ in the last bit then, are told to take the oldest.
"""

import argparse
import difflib
import gc
import hashlib
import io
import math
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir, redirect_stderr, redirect_stdout
from multiprocessing import get_context
from pathlib import Path

gc.set_threshold(50_000, 20, 20)  # of each process: a sixth of the time otherwise
HERE = Path(__file__).parent
KEPT = HERE / "golden"
LONGEST = 20_000  # letters of a text that is kept whole
HEAD = 40  # lines that are kept of a longer one, before its hash
PICTURES = {".pdf", ".png", ".svg"}  # each version of matplotlib draws a little otherwise

SURROUNDINGS = {
    "COLUMNS": "100",
    "LINES": "40",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PIVOTREE_CACHE": "off",
    "OPENBLAS_CORETYPE": "Prescott",
    "OPENBLAS_NUM_THREADS": "1",
    # by its names of today, and those before numpy 2.4; it warns in silence of names that it does not know
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX2 FMA3 AVX512F AVX512_SKX AVX512_ICL AVX512_SPR",
}

# What the processes share is what others wrote, and takes long to import.
OTHERS = ["matplotlib.backends.backend_agg", "networkx", "numba", "rich.table", "scipy.integrate", "sympy"]

# What must differ between two runs, or two machines: a pattern, what stands in its place, and why.
RULES = [
    (r"^pivotree: \.\.\. .*\n", "", "signs of life come every ten seconds: more on a slow machine"),
    (r'("seconds": )(\{[^}]*\}|[\d.e-]+)', r"\1[s]", "measured"),
    (r" in [\d.]+ s \([\d,.]+ a second\)", " in [s]", "measured: sweep"),
    (r"^( .* float\d\d +[\d,]+ .*\de-\d\d) +\d+\.\d(?= {3})", r"\1 [s]", "measured: simulate"),
    (r"^( (?:proved|failed|undecided) .*\d) +\d+\.\d $", r"\1 [s]", "measured: prove, last column"),
    (r"^\d+\.\d s +$", "[s]", "measured: reproduce, below each table"),
    (r"(\.(?:html|pdf|png|svg)|files in \w+) \([\d.,]+ \w+\)", r"\1 [size]", "scripts, and PICTURES"),
    (r"^robot:NAME of .*\n", "", "which robots other packages bring: models"),
    (r',\n \{\n  "source": "[er][^}]*\}[^}]*\}', "", "which robots other packages bring: models --json"),
    (r"\(choose from .*?\)", "(choose from these)", "argparse quotes the words, from Python 3.12 on not"),
    (r"<svg .*?</svg>", "[picture]", "pictures in pages: see PICTURES"),
    (r"<(script|style)(?! type=.app)[^>]*>.*?</\1>", r"[\1]", "files of the repository; browsers test them"),
    (r"'sha256-[^']*'", "'sha256-...'", "of those two, in the page's security policy"),
]


def digest(text):
    """How many lines a text has, and its hash."""
    return f"[{text.count(chr(10)) + 1} lines, sha256 {hashlib.sha256(text.encode()).hexdigest()[:32]}]\n"


def shown(text):
    """A text without what must differ; a long one is its first lines and its hash."""
    for pattern, instead, _ in RULES:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE | re.DOTALL * ("</" in pattern))
    if text.startswith("<!doctype html>"):
        text = re.sub('(?<=[^:]),"', ',\n"', text)  # a line for each field of the data in it
    if len(text) > LONGEST:
        text = "".join([*text.splitlines(keepends=True)[:HEAD], digest(text)])
    return text


def written(path):
    """What a file holds; of a picture the size alone, as a power of ten."""
    if path.suffix in PICTURES:
        return f"[some 10^{round(math.log10(path.stat().st_size))} bytes]\n"
    return shown(path.read_text("utf-8"))


def outcome(line):
    """What one command line makes in a folder that holds the inputs: exit status, streams, files."""
    from pivotree.analysis.cli import main

    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for source in [*(HERE / "inputs").iterdir(), *(HERE.parent / "models").rglob("*.json")]:
            shutil.copy(source, source.name)
        inputs = set(Path().iterdir())
        with redirect_stdout(out), redirect_stderr(err):
            try:
                status = main(shlex.split(line))
            except SystemExit as stop:  # argparse
                status = stop.code
            except Exception as error:  # a fault, which users would see as a traceback
                status = f"{type(error).__name__}: {error}"
        parts = [(f"$ pivotree {line}", f"exit status {status}\n")]
        parts += [("-- standard output", shown(out.getvalue())), ("-- standard error", shown(err.getvalue()))]
        for path in sorted(Path().rglob("*")):
            if path.is_file() and path not in inputs and "__pycache__" not in path.parts:
                text = written(path)
                parts.append((f"-- {path.as_posix()}", "[as above]\n" if text == parts[1][1] else text))
    return "".join(f"{head}\n{text}" for head, text in parts if text)


def made(files):
    """The texts of the golden files of one command, in a process of their own."""
    return {name: "\n".join(map(outcome, lines)) for name, lines in files.items()}


def pooled(groups):
    """Texts of all golden files.  What a command imports is there for no other: so users run it."""
    os.environ.update(SURROUNDINGS)  # before anything imports numpy
    context = get_context("forkserver")
    context.set_forkserver_preload(OTHERS)
    with ProcessPoolExecutor(2, context, max_tasks_per_child=1) as pool:
        return {name: text for texts in pool.map(made, groups) for name, text in texts.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep what is printed now; read it")
    parser.add_argument("names", nargs="*", metavar="NAME", help="golden files; all if not given")
    options = parser.parse_args()
    began = time.perf_counter()
    tables = tomllib.loads((HERE / "commands.toml").read_text("utf-8"))
    groups = [{f"{command}_{name}": table[name] for name in table} for command, table in tables.items()]
    known = {name for group in groups for name in group}
    names = {Path(name).stem for name in options.names} or known
    if names - known:
        parser.error(f"commands.toml has no {', '.join(sorted(names - known))}")
    texts = pooled([{name: group[name] for name in group if name in names} for group in groups])
    if not options.names:
        texts |= {path.stem: "" for path in KEPT.glob("*.txt") if path.stem not in known}
    differ = 0
    for name, text in texts.items():
        path = KEPT / f"{name}.txt"
        old = path.read_text("utf-8") if path.exists() else ""
        if text != old:
            differ += 1
            lines = difflib.unified_diff(old.splitlines(), text.splitlines(), name, "now", lineterm="")
            print("\n".join(lines))
            if options.write:
                path.write_text(text, "utf-8") if text else path.unlink()
    print(f"{differ} of {len(texts)} golden files differ, in {time.perf_counter() - began:.0f} s")
    return 1 if differ and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
