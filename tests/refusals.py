"""Which refusals no test names by its words.

    make refusals                                  # runs the tests, and then this program
    make refusals TESTS=tests/kkt ROOMS=kkt        # of one room

A test names a refusal where it met it and two words of the sentence, or more, stand in a text of
the test's own file, which is taken as it is or as a regular expression.  The program ends with 1
where a refusal is named by none.
"""

import ast
import json
import re
import sys
import warnings
from collections import defaultdict
from functools import cache

from raised import RECORD, ROOMS, ROOT, is_refusal

WORD = re.compile(r"[^\W\d_]{2,}")


def spoken(text: str) -> bool:
    """Whether a text is two words or more with spaces between, and not a name."""
    return sum(bool(WORD.search(part)) for part in text.split()) > 1


def refusals(room: str) -> list[str]:
    """Place of every refusal in a room, as file:line."""
    found = []
    for path in sorted((ROOT / room).rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        lines = sorted(node.lineno for node in nodes if is_refusal(node))
        found += [f"{path.relative_to(ROOT).as_posix()}:{line}" for line in lines]
    return found


@cache
def texts(test: str) -> list[str]:
    """Texts of two words or more in a test's file."""
    nodes = ast.walk(ast.parse((ROOT / test).read_text(encoding="utf-8")))
    found = {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return [text for text in found if spoken(text)]


def names(text: str, sentence: str, told: str | None = None) -> bool:
    """Whether a text, or a regular expression, says two words or more of a sentence.

    ``told`` is what became of the sentence where a file's name or more was put beside it.
    """
    told = told or sentence
    pattern = re.escape(text) if text in told else text
    try:
        found = re.search(pattern, told)
    except re.error:
        return False
    if not found:
        return False
    here = told.find(sentence)
    return spoken(told[max(found.start(), here) : min(found.end(), here + len(sentence))])


def named(sentence: str, test: str, met: dict[str, set[str]]) -> bool:
    """Whether a text in the file of a test names a sentence that the test met, in some words."""
    told = [other for other in met[test] if sentence in other]
    return any(names(text, sentence, x) for text in texts(test.partition("::")[0]) for x in told)


def main(rooms: list[str]) -> int:
    warnings.simplefilter("ignore", FutureWarning)  # of texts that are no regular expressions
    places, tests = defaultdict(set), defaultdict(set)
    for line in RECORD.read_text(encoding="utf-8").splitlines():
        place, sentence, test = json.loads(line)
        places[place].add((sentence, test))
        tests[test].add(sentence)
    missing = 0
    for room in rooms:
        there, bare = refusals(room), 0
        for place in there:
            met = sorted(places[place], key=lambda pair: len(pair[0]))
            if not any(named(sentence, test, tests) for sentence, test in met):
                missing += 1
                bare += not met
                print(f"{place}: {met[0] if met else 'not run'}")
        print(f"{room}: {len(there)} refusals, {bare} of them not run")
    print(f"{missing} refusals are named by no test")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(ROOMS)))
