"""pdflatex, for tests of what is written as LaTeX."""

import shutil
import subprocess

import pytest

needs_latex = pytest.mark.skipif(
    shutil.which("pdflatex") is None or shutil.which("pdftotext") is None,
    reason="pdflatex or pdftotext is not installed",
)


def compiled(path):
    """What pdflatex says of a file that it takes, and the words of its pages."""
    run = {"cwd": path.parent, "capture_output": True, "text": True, "errors": "replace"}
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name], **run)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Missing character" not in done.stdout
    words = subprocess.run(["pdftotext", "-layout", path.with_suffix(".pdf").name, "-"], **run)
    return done.stdout, " ".join(words.stdout.split())
