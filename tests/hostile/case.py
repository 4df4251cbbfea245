"""What is run and judged: a command line, the files beside it, and what it finds around itself."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass
class Case:
    """A file is a text; ``["bytes", LATIN-1]``; or a word in a list for what is no plain file.

    ``around`` holds environment variables by name, or None for one that is not set, as ``"env"``,
    and what ``surroundings.py`` lists.
    """

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


def _made(path: Path, content: str | list[str]) -> None:
    if isinstance(content, str):
        path.write_bytes(content.encode("utf-8", "surrogatepass"))
    elif content[0] == "bytes":
        path.write_bytes(content[1].encode("latin-1"))
    elif content == ["fifo"]:
        os.mkfifo(path)
    elif content == ["folder"]:
        path.mkdir()
    elif content == ["loop"]:
        path.symlink_to(path.name)
    elif content == ["nowhere"]:
        path.symlink_to("missing")
    elif content == ["full"]:
        path.symlink_to("/dev/full")
    elif content == ["endless"]:
        path.symlink_to("/dev/zero")
    elif content == ["closed"]:
        path.write_text("{}")
        path.chmod(0)
    else:
        path.touch()
