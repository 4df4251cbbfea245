"""Draw hostile inputs for as long as one likes: make fuzz SECONDS=3600 SEED=7.

Prints how many inputs there were and how many failed, and writes the shortest input of each kind of
failure as a file; put into tests/hostile/cases under a name of its own, it is a regression test.
"""

import argparse
import faulthandler
import math
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import hypothesis
from inputs import Case, cases
from judge import faults

BATCH = 200
APART = 1000  # of so many, one is a process of its own


def campaign(
    most: float, seed: int, folder: Path, seconds: float = math.inf
) -> tuple[int, Counter]:
    """Inputs judged, and how often each fault was met; the shortest case of each in ``folder``."""
    found: Counter = Counter()
    shortest: dict[str, int] = {}
    total, batch, end = 0, 0, time.monotonic() + seconds
    folder.mkdir(parents=True, exist_ok=True)
    current = folder / "current.json"  # what stays where the process itself dies

    def over() -> bool:
        return total >= most or time.monotonic() > end

    def one(case: Case) -> None:
        nonlocal total
        if over():
            return
        total += 1
        text = case.as_json()
        current.write_text(text)
        for fault in faults(case, apart=total % APART == 0):
            kind = f"{case.arguments[0]}: {fault}"
            found[kind] += 1
            if len(text) < shortest.get(kind, sys.maxsize):
                if kind not in shortest:
                    print(f"{total}: {kind} {case.arguments!r}"[:600], flush=True)
                shortest[kind] = len(text)
                (folder / f"seed{seed}_{list(shortest).index(kind)}.json").write_text(text)

    while not over():
        drawn = hypothesis.settings(
            max_examples=BATCH, deadline=None, database=None, phases=[hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )  # fmt: skip
        hypothesis.seed(seed * 1_000_003 + batch)(drawn(hypothesis.given(cases())(one)))()
        batch += 1
    current.unlink(missing_ok=True)
    return total, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--into", type=Path, default=Path("build/fuzz"))
    options = parser.parse_args()
    faulthandler.enable()
    total, found = campaign(math.inf, options.seed, options.into.absolute(), options.seconds)
    print(f"{total:,} inputs, {sum(found.values()):,} failures of {len(found)} kinds")
    for kind, count in found.most_common():
        print(f"{count:7,}  {kind[:300]}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
