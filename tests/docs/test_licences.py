"""Every package that pyproject.toml names stands in CONTRIBUTING.md with its licence."""

import re
import tomllib

from helpers import ROOT


def test_every_dependency_is_listed_with_its_licence():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    needed = {re.match(r"[\w-]+", one)[0] for group in groups for one in group}
    listed = set(re.findall(r"([\w-]+) \([^)]+\)", (ROOT / "CONTRIBUTING.md").read_text()))
    assert needed <= listed, needed - listed
