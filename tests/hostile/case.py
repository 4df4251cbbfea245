"""What is run and judged: a command line, the files beside it, and what it finds around itself.

Streams, limits, a user without rights, a time to be ended: ``case.around`` may hold

* ``env``: variables by name; None for one that is not set,
* ``stdin``, ``stdout``, ``stderr``: closed, full, broken (a pipe that nobody reads), or ascii,
* ``files``: how many may be open; ``memory``: more bytes than now; ``written``: bytes of a file,
* ``nobody``: a user to whom nothing here belongs; ``gone``: the working folder is removed,
* ``ended``: [s] after which Ctrl-C comes.
"""

import io
import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

LIMITS = {"files": resource.RLIMIT_NOFILE, "memory": resource.RLIMIT_AS, "written": resource.RLIMIT_FSIZE}
NOBODY = 65534
STREAMS = ("stdin", "stdout", "stderr")


@dataclass
class Case:
    """A file is a text; ``["bytes", LATIN-1]``; or a word in a list for what is no plain file."""

    arguments: list[str]
    files: dict[str, str | list[str]] = field(default_factory=dict)
    around: dict = field(default_factory=dict)

    def as_json(self) -> str:
        return json.dumps(asdict(self), indent=1)

    def lay_out(self, folder: Path) -> None:
        """Make the folder and its files."""
        folder.mkdir(parents=True)
        for name, content in self.files.items():
            _made(folder / name, content)


LINKS = {"loop": "", "nowhere": "missing", "full": "/dev/full", "endless": "/dev/zero"}


def _made(path: Path, content: str | list[str]) -> None:
    if isinstance(content, str):
        path.write_bytes(content.encode("utf-8", "surrogatepass"))
    elif content[0] == "bytes":
        path.write_bytes(content[1].encode("latin-1"))
    elif content == ["fifo"]:
        os.mkfifo(path)
    elif content == ["folder"]:
        path.mkdir()
    elif content[0] in LINKS:
        path.symlink_to(LINKS[content[0]] or path.name)
    elif content == ["closed"]:
        path.write_text("{}")
        path.chmod(0)
    else:
        path.touch()


def refusals(err: str) -> list[str]:
    """The lines of standard error but for warnings, and what slow work says of itself."""
    usual = ("pivotree: warning: ", "pivotree: ... ")
    return [line for line in err.splitlines() if not line.startswith(usual)]


# -- surroundings ----------------------------------------------------------------------------------


def connect(around: dict, out: Path, err: Path) -> None:
    """Standard input, output and error as they are to be; what is said goes into two files."""
    ends = {"stdin": os.open(os.devnull, os.O_RDONLY), "stdout": _opened(out), "stderr": _opened(err)}
    for number, name in enumerate(STREAMS):
        how = around.get(name)
        if how == "full":
            ends[name] = os.open("/dev/full", os.O_RDWR)
        elif how == "broken":
            unread, ends[name] = os.pipe()
            os.close(unread)
        os.dup2(ends[name], number)
    for end in ends.values():
        if end > 2:
            os.close(end)
    for number, name in enumerate(STREAMS):
        if around.get(name) == "closed":
            os.close(number)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)


def wrapped(around: dict) -> None:
    """Python's own streams over these, as it makes them when it starts."""
    for number, name in enumerate(STREAMS):
        stream = None
        if around.get(name) != "closed":
            raw = open(number, "rb" if number == 0 else "wb", closefd=False)  # noqa: SIM115
            encoding = "ascii" if around.get(name) == "ascii" else "utf-8"
            errors = "backslashreplace" if number == 2 else "strict"
            stream = io.TextIOWrapper(raw, encoding, errors, line_buffering=number == 2)
        setattr(sys, name, stream)


@contextmanager
def entered(around: dict) -> Iterator[None]:
    """Rights, limits and the folder as they are to be; as they were behind the block."""
    before = {what: resource.getrlimit(LIMITS[what]) for what in LIMITS if what in around}
    try:
        for what, (_, hard) in before.items():
            most = around[what] + (_size() if what == "memory" else 0)
            resource.setrlimit(LIMITS[what], (most, hard))
        if around.get("gone"):
            shutil.rmtree(Path.cwd())
        if around.get("nobody") and os.getuid() == 0:
            os.setresuid(NOBODY, NOBODY, 0)
        if "ended" in around:
            signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
            signal.setitimer(signal.ITIMER_REAL, around["ended"])
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if around.get("nobody") and os.getresuid()[2] == 0:
            os.setresuid(0, 0, 0)
        for what, both in before.items():
            resource.setrlimit(LIMITS[what], both)


def _size() -> int:
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return 2**32


def environment(around: dict) -> None:
    for name, value in around.get("env", {}).items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
