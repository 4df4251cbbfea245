"""Draw hostile inputs for as long as one likes: make fuzz SECONDS=3600 SEED=7.

Prints how many inputs there were and how many failed, and writes the shortest input of each kind of
failure as a file; put into tests/hostile/cases under a name of its own, it is a regression test.
FILES are such inputs, which are run once more, before the others where --most says how many.
"""

import argparse
import contextlib
import gc
import io
import itertools
import json
import math
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a process with one thread can be forked
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import hypothesis
import processes
from hostile_words import GOOD, HOSTILE
from inputs import MJCF, SWEEP, URDF, cases
from processes import Case

from pivotree.analysis import cli

BATCH = 240


def warm_up() -> None:
    """Load once what commands import, so that a forked process begins with it."""
    before, top = (Path.cwd(), Case([], {"m.json": GOOD, "m.urdf": URDF, "m.xml": MJCF, "s.toml": SWEEP}))
    with tempfile.TemporaryDirectory(prefix="hostile-") as place:
        top.lay_out(Path(place) / "a")
        os.chdir(Path(place) / "a")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            for line in HOSTILE["once in all"]:
                with contextlib.suppress(SystemExit):
                    cli.main(line.split())
        os.chdir(before)
    gc.collect()
    gc.freeze()


def drawn(seed: int, batch: int) -> list[Case]:
    """The cases of one batch, no two of them alike: the same for the same seed."""
    found: list[Case] = []
    settings = hypothesis.settings(
        max_examples=BATCH,
        deadline=None,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    test = hypothesis.given(cases())(lambda case: found.append(case))
    hypothesis.seed(seed * 1_000_003 + batch)(settings(test))()
    return list({case.as_json(): case for case in found}.values())


def campaign(most: float, seed: int, folder: Path, seconds: float = math.inf) -> tuple[int, Counter]:
    """Inputs judged, and how often each fault was met; the shortest case of each in ``folder``."""
    found: Counter = Counter()
    shortest: dict[str, int] = {}
    total, begin = 0, time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    for batch in itertools.count():
        if total >= most or time.monotonic() - begin > seconds:
            break
        some = drawn(seed, batch)[: int(min(most - total, BATCH))]
        total += len(some)
        for case, faults in processes.judged(some):
            for fault in faults:
                kind, text = f"{case.arguments[0]}: {fault}", case.as_json()
                found[kind] += 1
                if kind not in shortest:
                    print(f"{kind} {case.arguments!r} {case.around or ''}"[:600], flush=True)
                if len(text) < shortest.get(kind, sys.maxsize):
                    shortest[kind] = len(text)
                    (folder / f"seed{seed}_{list(shortest).index(kind)}.json").write_text(text)
    return total, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--most", type=float, default=math.inf, help="inputs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--into", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--patience", type=float, default=1.0, help="times a hang's seconds")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    processes.HANG *= options.patience
    files = [path.absolute() for path in options.files]
    with tempfile.TemporaryDirectory(prefix="hostile-cache-") as cache:
        os.environ["PIVOTREE_CACHE"] = cache
        warm_up()
        if files:
            texts = [json.loads(path.read_text(encoding="utf-8")) for path in files]
            wrong = False
            for path, (_, faults) in zip(files, processes.judged([Case(**x) for x in texts], 1), strict=True):
                print(f"{path.stem}: {faults or 'as promised'}")
                wrong |= bool(faults)
            if wrong or options.most == math.inf:
                return int(wrong)
        into = options.into.absolute()
        total, found = campaign(options.most, options.seed, into, options.seconds)
    print(f"{total:,} inputs, {sum(found.values()):,} failures of {len(found)} kinds")
    for kind, count in found.most_common():
        print(f"{count:7,}  {kind[:300]}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
