"""The list of slow tests names tests."""

import re

import slow
from helpers import ROOT


def test_every_test_of_the_list_is_there():
    missing = []
    for name in sorted(slow.listed()):
        file, _, test = name.partition("::")
        path = ROOT / file
        function = re.escape(test.partition("[")[0])
        if not path.is_file() or not re.search(rf"^def {function}\(", path.read_text(), re.M):
            missing.append(name)
    assert missing == []  # make test-times writes the list anew
    assert len(slow.listed()) > 100


def test_durations_become_a_list(tmp_path, monkeypatch, capsys):
    lines = [
        "= slowest durations =",
        "0.40s call     tests/a/test_b.py::test_c[x y]",
        "0.20s setup    tests/a/test_b.py::test_c[x y]",
        "0.49s call     tests/a/test_b.py::test_d",
        "9.00s teardown tests/a/test_b.py::test_e",
        "3 passed in 1.00s",
    ]
    monkeypatch.setattr(slow, "LIST", tmp_path / "slow.txt")
    monkeypatch.setattr("sys.stdin", (f"{line}\n" for line in lines))
    slow.main()
    assert slow.listed() == {"tests/a/test_b.py::test_c[x y]"}
