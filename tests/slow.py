"""Write tests/slow.txt anew: the tests that take more than half a second.

    make test-times

runs all that no file marks as slow, in one process, and hands pytest's own list of durations to
this program.  conftest.py marks the tests of the list slow: make test leaves them out, and
make test-all runs them.
"""

import re
import sys
from collections import Counter
from pathlib import Path

LIST = Path(__file__).with_suffix(".txt")
LINE = re.compile(r"([\d.]+)s (?:setup|call) +(tests/.*::.*)")
LEAST = 0.5  # [s]


def listed() -> set[str]:
    """Names of the tests that are slow."""
    return set(LIST.read_text(encoding="utf-8").splitlines())


def main() -> None:
    seconds: Counter = Counter()
    for line in sys.stdin:
        if found := LINE.fullmatch(line.rstrip("\n")):
            seconds[found[2]] += float(found[1])
    names = sorted(name for name, time in seconds.items() if time >= LEAST)
    LIST.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    print(f"{LIST}: {len(names)} tests of {sum(seconds[n] for n in names):.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
