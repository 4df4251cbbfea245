"""How many of 200 small faults in kkt, orderings and analysis the tests find.

    make mutants        # long: not for every change

A mutant is the program with one small fault: a wrong sign, a wrong index, an off by one, a dropped
term, or a wrong rule.  ``mutants.json`` keeps the list, drawn once by a seed, and which test found
each.  A later run asks the same mutants of the present tree, says which are no longer found and
which have no place any more (their function was changed or moved), and fails if fewer are found.
``--keep`` writes the file anew, ``--draw`` draws other mutants, ``--tree FOLDER`` asks the tests of
another checkout, such as that of an earlier commit, and ``--resume FOLDER`` goes on where a run ended.

First all tests that ``--marks`` leaves run once without a fault, under coverage: each mutant then
meets the tests that reach its lines, its function or its file, nearest first, until ``BUDGET``
seconds are filled, so that it does not matter in which file a test stands.  The tests run in
processes forked from this one, which has imported what is foreign but nothing of Pivotree.

Why not a kept tool: mutmut puts its mutants behind Python functions, where numba compiles none, and
cosmic-ray runs one test command for all mutants and has no fault of an index, a term or a transpose.
"""

import argparse
import ast
import importlib
import importlib.util
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from itertools import accumulate, count, pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_suffix(".json")
FOREIGN = "coverage hypothesis matplotlib.pyplot mpmath networkx numba pytest scipy.linalg scipy.sparse sympy"
FOLDERS = ("kkt", "orderings", "analysis")
KINDS = ("sign", "index", "one", "term", "rule")
IDENTITY = ("file", "function", "kind", "nth", "old", "new")
MARKS = " and ".join(f"not {m}" for m in ("soak", "browser", "docs", "peers"))
BUDGET = 10.0  # seconds of processors, under coverage, of the tests that a mutant meets
FILE = 0.3  # seconds to import one more file of tests
SEVERAL = 6  # files of tests that one process runs, for what they reach
LEAST = 120.0  # seconds before tests count as hanging, and five times what they took without a fault
COMPILING = 600.0  # seconds more where numba's kept programs are of no use
MEMORY = 8 << 30  # bytes of a process of tests
UNTOUCHED = {"annotation", "returns", "decorator_list"}
SIGNS = {"Add": ("sign", b"-"), "Sub": ("sign", b"+")}
ORDERS = {"Lt": ("one", b"<="), "LtE": ("one", b"<"), "Gt": ("one", b">="), "GtE": ("one", b">")}
RULES = {"Eq": b"!=", "NotEq": b"==", "Is": b"is not", "IsNot": b"is", "In": b"not in", "NotIn": b"in"}
TURNED = SIGNS | ORDERS | {name: ("rule", text) for name, text in RULES.items()}
STARTED: set[int] = set()  # processes that end with this one


class Source:
    """A file's bytes, and the faults that they can be given."""

    def __init__(self, root, file):
        self.file, self.data = file, (root / file).read_bytes()
        self.starts = [0, *accumulate(len(line) + 1 for line in self.data.split(b"\n"))]

    def start(self, node):
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node):
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def between(self, left, right):
        """Where the operator between two operands stands: brackets and blanks do not belong to it."""
        begin, finish = self.end(left), self.start(right)
        found = re.fullmatch(rb"[\s)]*([^\s()#\\][^()#\\\n]*?)[\s(]*", self.data[begin:finish])
        return (begin + found.start(1), begin + found.end(1)) if found else None

    def faults(self, node, asked):
        """(kind, edits) of a node, perhaps what an ``if`` asks; an edit is (start, end, text), of bytes."""
        name = type(getattr(node, "op", None) or getattr(node, "ops", [None])[0]).__name__
        match node:
            case ast.BinOp(left=left, right=right) if name in SIGNS and not wordy(left) and not wordy(right):
                if place := self.between(left, right):
                    yield "sign", [(*place, TURNED[name][1])]
                    yield "term", [(place[0], self.end(node), b"")]
            case ast.AugAssign(target=left, value=right) if name in SIGNS and not wordy(right):
                if place := self.between(left, right):
                    yield "sign", [(*place, TURNED[name][1] + b"=")]
            case ast.UnaryOp(op=ast.USub()):
                yield "sign", [(self.start(node), self.start(node) + 1, b"")]
            case ast.Compare(left=left, comparators=[right]) if place := self.between(left, right):
                yield TURNED[name][0], [(*place, TURNED[name][1])]
            case ast.BoolOp(values=values):
                places = [self.between(*pair) for pair in pairwise(values)]
                if all(places):
                    yield "rule", [(*place, b"or" if name == "And" else b"and") for place in places]
            case ast.Subscript(slice=ast.Tuple(elts=[one, other])) if not kind_of_type(node.value):
                spans = [(self.start(n), self.end(n)) for n in (one, other)]
                yield "index", [(*spans[k], self.data[slice(*spans[1 - k])]) for k in (0, 1)]
            case ast.Subscript(slice=at) if numeric(at) and not kind_of_type(node.value):
                yield "index", [(self.end(at), self.end(at), b" + 1")]
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                yield "one", [(self.start(node), self.end(node), str(value + 1).encode())]
            case ast.Call(func=ast.Name(id="range"), args=[*_, last]):
                yield "one", [(self.end(last), self.end(last), b" - 1")]
            case ast.Call(func=ast.Name(id="max" | "min" as word) as called):
                yield "rule", [(self.start(called), self.end(called), b"min" if word == "max" else b"max")]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield "rule", [(self.start(node), self.start(operand), b"")]
            case ast.Attribute(attr="T"):
                yield "rule", [(self.end(node) - 2, self.end(node), b"")]
            case ast.Name() | ast.Call() | ast.Attribute() if asked:
                yield "rule", [(self.start(node), self.start(node), b"not ")]

    def mutants(self):
        """All faults of the file, each with its identity, edits, and lines of itself and its function."""
        nth = defaultdict(count)
        for node, asked, function, body in walked(ast.parse(self.data)):
            for kind, edits in self.faults(node, asked):
                shift = sum(len(text) - (end - start) for start, end, text in edits)
                text = changed(self.data, edits)[self.start(node) : self.end(node) + shift]
                try:
                    new = ast.unparse(ast.parse(text if isinstance(node, ast.stmt) else b"(" + text + b")"))
                except SyntaxError:
                    continue
                old = ast.unparse(node)
                if new != old:
                    name = (self.file, function, kind, next(nth[function, kind, old, new]), old, new)
                    where = {"edits": edits, "lines": (node.lineno, node.end_lineno), "body": body}
                    yield dict(zip(IDENTITY, name, strict=True)) | where


def wordy(node):
    """Whether + joins texts or lists there."""
    words = (ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple)
    parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node]
    return any(isinstance(p, words) or isinstance(getattr(p, "value", None), str) for p in parts)


def numeric(node):
    """Whether an index may be a number, and is no slice."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int)
    return isinstance(node, ast.Name | ast.BinOp | ast.UnaryOp)


def key(mutant):
    return tuple(mutant[name] for name in IDENTITY)


def kind_of_type(node):
    return ast.unparse(node).split(".")[-1] in {"NDArray", "dict", "list", "tuple", "Callable", "Iterator"}


def walked(node, asked=False, function="", body=(0, 0)):
    """Nodes that a fault may change, whether an ``if`` asks it, the function's name, and its body's lines."""
    hint = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    if hint or isinstance(node, ast.Raise | ast.JoinedStr):
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        function = f"{function}.{node.name}".lstrip(".")
        body = (0, 0) if isinstance(node, ast.ClassDef) else (node.body[0].lineno, node.end_lineno)
    yield node, asked, function, body
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            whole = field == "slice" and isinstance(child, ast.Constant)  # the index is changed, not both
            if field not in UNTOUCHED and not whole and isinstance(child, ast.AST):
                yield from walked(child, field in ("test", "ifs"), function, body)


def changed(data, edits):
    for start, end, text in sorted(edits, reverse=True):
        data = data[:start] + text + data[end:]
    return data


def drawn(every, seed, number):
    """Mutants drawn in turn from each folder and each kind of fault, so that all come equally often."""
    cells = defaultdict(list)
    for mutant in every:
        cells[mutant["file"].split("/")[0], mutant["kind"]].append(mutant)
    lots = random.Random(seed)
    for cell in cells.values():
        lots.shuffle(cell)
    turns = [cells[folder, kind][k : k + 1] for k in range(number) for kind in KINDS for folder in FOLDERS]
    return [mutant for turn in turns for mutant in turn][:number]


def compiled_into(root):
    """Files with functions that numba compiles, and files whose names those import."""
    found = set()
    for path in (p for folder in FOLDERS for p in sorted((root / folder).rglob("*.py"))):
        text = path.read_text(encoding="utf-8")
        if "numba" in text or "njit" in text:
            found.add(path)
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ImportFrom) and node.level:
                    package = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
                    found |= {package.with_suffix(".py"), *(package / f"{n.name}.py" for n in node.names)}
    return {str(path.relative_to(root)) for path in found if path.exists()}


class Watch:
    """A plugin of pytest: chooses and orders tests, and keeps what passed, its seconds, and what failed."""

    def __init__(self, chosen=None):
        self.chosen, self.cover = chosen, None
        self.seconds, self.passed, self.failed = {}, [], []

    def pytest_collection_modifyitems(self, items):
        if self.chosen is not None:
            place = {name: k for k, name in enumerate(self.chosen)}
            present = {item.nodeid for item in items}
            self.failed += [f"{name} (is gone)" for name in self.chosen if name not in present][:1]
            items[:] = sorted((i for i in items if i.nodeid in place), key=lambda i: place[i.nodeid])

    def pytest_runtest_logstart(self, nodeid):
        self.seconds[nodeid] = -sum(os.times()[:4])
        if self.cover:
            self.cover.switch_context(nodeid)

    def pytest_runtest_logfinish(self, nodeid):
        self.seconds[nodeid] += sum(os.times()[:4])

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.append(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed.append(report.nodeid)

    def pytest_collectreport(self, report):
        if report.failed:
            self.failed.append(f"{report.nodeid} (when collected)")


def forked(place, tests, options=(), chosen=None, numba_cache=None, mutants=()):
    """Start pytest on the tree in ``place`` in a process of its own; what it found goes to place.json."""
    if pid := os.fork():
        STARTED.add(pid)
        return pid
    code = 3
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which is ignored in the background
        log = os.open(f"{place}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream, target in ((0, os.open(os.devnull, os.O_RDONLY)), (1, log), (2, log)):
            os.dup2(target, stream)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.chdir(place)
        os.makedirs(f"{place}.tmp", exist_ok=True)
        tempfile.tempdir = os.environ["TMPDIR"] = f"{place}.tmp"
        os.environ["PYTHONPATH"] = f"{place}/src"
        sys.path.insert(0, f"{place}/src")
        if numba_cache:
            os.environ["NUMBA_CACHE_DIR"] = sys.modules["numba"].config.CACHE_DIR = str(numba_cache)
        found = importlib.util.find_spec("pivotree").origin
        assert found.startswith(f"{place}/src/"), found
        watch = Watch(chosen)
        if mutants:
            sources = [f"{place}/{folder}" for folder in FOLDERS]
            watch.cover = sys.modules["coverage"].Coverage(None, source=sources, config_file=False)
            watch.cover.start()
        always = ["-n", "0", "-q", "-p", "no:cacheprovider", f"--rootdir={place}"]
        status = int(sys.modules["pytest"].main([*always, *options, *tests], plugins=[watch]))
        if status in (2, 3, 4) and not watch.failed:
            watch.failed.append(f"(pytest ended with status {status})")
        told = {"seconds": watch.seconds, "passed": watch.passed, "failed": watch.failed}
        if mutants:
            watch.cover.stop()
            told["reached"] = reached(watch.cover.get_data(), place, mutants)
        Path(f"{place}.json").write_text(json.dumps(told), encoding="utf-8")
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def ended(pid, place, until):
    """What a process of tests found, once it has ended or was ended at the time ``until``; else None."""
    late = time.monotonic() > until
    if late:
        os.killpg(pid, signal.SIGKILL)
    done, status = os.waitpid(pid, 0 if late else os.WNOHANG)
    if not done:
        return None
    STARTED.discard(pid)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 3:
        raise RuntimeError(f"no test could be asked; see {place}.log")
    shutil.rmtree(f"{place}.tmp", ignore_errors=True)
    result = Path(f"{place}.json")
    told = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {"failed": ["(crash)"]}
    result.unlink(missing_ok=True)
    return {"failed": ["(time)"]} if late else told


def reached(data, place, mutants):
    """Of each mutant {test: 0, 1, 2 or 3}: it reaches the mutant's lines, its function, its file, its folder.

    Coverage sees no line that numba has compiled, nor another process: the folder counts where
    nothing nearer is reached.
    """
    lines = {os.path.relpath(f, place): data.contexts_by_lineno(f) for f in data.measured_files()}
    files = {file: {t for tests in by_line.values() for t in tests if t} for file, by_line in lines.items()}
    found = []
    for mutant in mutants:
        near = dict.fromkeys(files.get(mutant["file"], ()), 2)
        for ring, (first, last) in ((1, mutant["body"]), (0, mutant["lines"])):
            if mutant["body"][1]:
                by_line = lines.get(mutant["file"], {})
                near |= {t: ring for n in range(first, last + 1) for t in by_line.get(n, ()) if t}
        folder = os.path.dirname(mutant["file"])
        far = {t: 3 for file, tests in files.items() if os.path.dirname(file) == folder for t in tests}
        found.append(near or far)
    return found


def pooled(copies, tasks, begin, finish):
    """Do tasks in as many processes as there are copies of the tree.

    ``begin(place, task)`` gives the process and its seconds at most; ``finish(place, task, found, took)``
    takes what its tests found.
    """
    free, running, tasks = list(copies), {}, list(tasks)
    while tasks or running:
        while tasks and free:
            place, task = free.pop(), tasks.pop(0)
            pid, limit = begin(place, task)
            running[pid] = place, task, limit, time.monotonic()
        for pid, (place, task, limit, begun) in list(running.items()):
            if (found := ended(pid, place, begun + limit)) is not None:
                finish(place, task, found, time.monotonic() - begun)
                free.append(place)
                del running[pid]
        time.sleep(0.1)


def lines_of(record):
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    return [json.loads(line) for line in lines]


def mapped(copies, mutants, marks, record):
    """Run all tests once, file by file: (seconds of each that passes, by whom each mutant is reached)."""
    root = Path(copies[0])
    files = sorted(str(p.relative_to(root)) for p in (root / "tests").rglob("test_*.py"))
    parts = [files[k : k + SEVERAL] for k in range(0, len(files), SEVERAL)]
    known = lines_of(record)

    def begin(place, files):
        return forked(place, files, ["-m", marks], mutants=mutants), 3600.0

    def finish(place, files, found, _):
        nothing = {"seconds": {}, "passed": [], "reached": [{} for _ in mutants]}  # of a crash
        known.append(nothing | found | {"files": files})
        with record.open("a", encoding="utf-8") as file:
            file.write(json.dumps(known[-1]) + "\n")
        print(f"{files[-1]}: {len(known[-1]['passed'])} tests pass", *found["failed"], sep="\n  ")

    done = [part["files"] for part in known]
    pooled(copies, [part for part in parts if part not in done], begin, finish)
    seconds = {t: part["seconds"][t] for part in known for t in part["passed"] if t not in part["failed"]}
    rings = [{k: v for part in known for k, v in part["reached"][n].items()} for n in range(len(mutants))]
    return seconds, rings


def chosen(rings, seconds, before):
    """Tests that a mutant meets: the one that found it before, then file after file, nearest first."""
    files = defaultdict(list)
    near = {test: ring for test, ring in rings.items() if ring < 3}
    nearby = {test.split("::")[0] for test in rings}  # a test of compiled code alone reaches no line
    far = {test: 3 for test in seconds if test.split("::")[0] in nearby}
    for test, ring in (near or far).items():
        if test in seconds:
            files[test.split("::")[0]].append((ring, seconds[test], test))
    order = sorted(
        files.values(), key=lambda file: (min(file)[0], sum(FILE + t[1] for t in file) / len(file))
    )
    tests, spent = [before] if before in seconds else [], 0.0
    for file in order:
        opened = FILE
        for _, cost, test in sorted(file):
            if spent + opened + cost <= BUDGET and test not in tests:
                tests.append(test)
                spent, opened = spent + opened + cost, 0.0
    return tests, spent


def table(results):
    """How many were found of how many, per folder and kind."""
    cells = defaultdict(list)
    for m in results:
        for folder in (m["file"].split("/")[0], "all"):
            for kind in (m["kind"], "all"):
                cells[folder, kind].append(bool(m["by"]))
    rows = [("", *KINDS, "all")]
    for folder in (*FOLDERS, "all"):
        row = [cells[folder, kind] for kind in (*KINDS, "all")]
        rows.append((folder, *(f"{sum(cell)} of {len(cell)}" for cell in row)))
    return "\n".join("".join(f"{word:>12}" for word in row) for row in rows)


def told(mutant):
    return "{file} {function} ({kind} {nth}): {old}  ->  {new}".format(**mutant)


def asked_or_known(work, mutants, before, args):
    """Every mutant with what found it: known from the folder ``work``, or asked now and written there."""
    copies = [str(work / f"tree{k}") for k in range(args.jobs)]
    for place in copies:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(args.tree, place, symlinks=True, ignore=shutil.ignore_patterns(".venv", "build"))
    for module in FOREIGN.split():
        importlib.import_module(module)
    seconds, rings = mapped(copies, mutants, args.marks, work / "ways.jsonl")
    concerned, record = compiled_into(args.tree), work / "results.jsonl"
    known = {key(m): {name: m[name] for name in (*IDENTITY, "by")} for m in lines_of(record)}
    met = {key(m): chosen(rings[n], seconds, before[key(m)]) for n, m in enumerate(mutants)}

    def begin(place, mutant):
        path = Path(place, mutant["file"])
        shutil.copy2(path, f"{place}.kept")
        path.write_bytes(changed(path.read_bytes(), mutant["edits"]))
        tests, spent = met[key(mutant)]
        files = list(dict.fromkeys(t.split("::")[0] for t in tests))
        if mutant["file"] in concerned:
            return forked(place, files, ["-x"], tests, f"{place}.numba"), LEAST + 5 * spent + COMPILING
        return forked(place, files, ["-x"], tests), LEAST + 5 * spent

    def finish(place, mutant, found, took):
        shutil.copy2(f"{place}.kept", Path(place, mutant["file"]))
        shutil.rmtree(f"{place}.numba", ignore_errors=True)
        by = found["failed"][0] if found["failed"] else None
        known[key(mutant)] = {name: mutant[name] for name in IDENTITY} | {"by": by}
        with record.open("a", encoding="utf-8") as file:
            extra = {"tests": len(met[key(mutant)][0]), "took": round(took, 1)}
            file.write(json.dumps(known[key(mutant)] | extra) + "\n")
        print(f"{len(known)}: {by or 'SURVIVED'}, {took:.0f} s: {told(mutant)}", flush=True)

    pooled(copies, [m for m in mutants if key(m) not in known], begin, finish)
    finders = [m["by"] for m in known.values() if m["by"] in seconds]
    files = list(dict.fromkeys(t.split("::")[0] for t in finders))

    def once_more(place, _):
        return forked(place, files, chosen=finders), 3600.0

    def say(_place, _task, found, _took):
        print("Of the tests that found a fault these fail without one:", found["failed"] or "none")

    pooled(copies[:1], [None], once_more, say)
    return [known[key(m)] for m in mutants if key(m) in known]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout whose tests are asked")
    parser.add_argument("--list", type=Path, default=LIST, help="the mutants and what found them")
    parser.add_argument("--draw", action="store_true", help="draw mutants anew, by --seed")
    parser.add_argument("--keep", action="store_true", help="write --list anew")
    parser.add_argument("--resume", type=Path, help="a folder with results of a run that was ended")
    parser.add_argument("--seed", type=int, default=20260)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--marks", default=MARKS)
    args = parser.parse_args()
    args.tree = args.tree.resolve()
    if args.draw:
        paths = [p for folder in FOLDERS for p in sorted((args.tree / folder).rglob("*.py"))]
        files = [str(p.relative_to(args.tree)) for p in paths if p.name != "__init__.py"]
    else:
        kept = json.loads(args.list.read_text(encoding="utf-8"))["mutants"][: args.count]
        files = sorted({m["file"] for m in kept if (args.tree / m["file"]).exists()})
    every = {key(m): m for file in files for m in Source(args.tree, file).mutants()}
    if args.draw:
        kept = drawn(every.values(), args.seed, args.count)
    before = {key(m): m.get("by") for m in kept if key(m) in every}
    mutants = [every[k] for k in before]
    work = (args.resume or Path(tempfile.mkdtemp(prefix="mutants-"))).resolve()
    work.mkdir(parents=True, exist_ok=True)
    print(f"{len(mutants)} mutants; results, and what --resume takes: {work}", flush=True)
    results = asked_or_known(work, mutants, before, args)
    gone = [m for m in kept if key(m) not in before]
    for m in gone:
        print("has no place any more:", told(m))
    now = {key(m): m["by"] for m in results}
    for m in results:
        if not m["by"]:
            print("NO LONGER FOUND:" if before[key(m)] else "survives:", told(m))
    found, earlier = sum(map(bool, now.values())), sum(map(bool, before.values()))
    apart = sum(by in ("(time)", "(crash)") for by in now.values())
    print(table(results), f"{found} of {len(now)} found, {apart} of them by time or a crash", sep="\n")
    print(f"{earlier} of these {len(now)} were found before; {len(gone)} mutants have no place any more")
    if args.keep:
        why = {key(m): {"why": m["why"]} for m in kept if "why" in m}  # of those that no test can find
        lines = ",\n".join(json.dumps(m | why.get(key(m), {})) for m in results + gone)
        head = f'"seed": {args.seed}, "found": {found}, "of": {len(now)}'
        args.list.write_text(f'{{{head}, "mutants": [\n{lines}\n]}}\n', encoding="utf-8")
    sys.exit(found < earlier)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        main()
    finally:
        for pid in STARTED:
            os.killpg(pid, signal.SIGKILL)
