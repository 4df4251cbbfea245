"""What long work says of itself where standard error is a log."""

import pytest

from pivotree.analysis.cli import progress


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])

    def wait(seconds):
        now[0] += seconds

    return wait


def test_work_says_a_line_every_ten_seconds(clock, capsys):
    with progress.progress_shown() as told:
        for k in range(9):
            clock(1.0)
            told(f"tracing [red]{k}")
        assert capsys.readouterr() == ("", "")  # short work says nothing
        for k in range(9, 25):
            clock(1.0)
            told(f"tracing [red]{k}")
    assert capsys.readouterr().err.splitlines() == [
        "pivotree: ... tracing [red]9, 10 s so far",
        "pivotree: ... tracing [red]19, 20 s so far",
    ]


def test_work_in_parts_says_the_time_left_by_the_parts_after_the_first(clock, capsys):
    with progress.progress_shown("states", 5) as told:
        clock(60.0)
        told("states", 1)
        for done in range(2, 6):
            clock(11.0)
            told("states", done)
    assert capsys.readouterr().err.splitlines() == [
        "pivotree: ... states: 1 of 5, 60 s so far",
        "pivotree: ... states: 2 of 5, 33 s left",
        "pivotree: ... states: 3 of 5, 22 s left",
        "pivotree: ... states: 4 of 5, 11 s left",
    ]


def test_a_terminal_gets_a_bar_and_names_are_no_markup(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress.progress_shown("states", 5) as told:
        told("the [red]matrix[/blue]", 2)
    assert "2/5" in (err := capsys.readouterr().err) and "[red]matrix[/blue]" in err
