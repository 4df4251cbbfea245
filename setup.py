"""The folders kkt, orderings, analysis and papers are installed inside one package, pivotree.

Other projects on PyPI have packages of these names; the rest of the build is in pyproject.toml.
"""

from setuptools import find_packages, setup

ROOMS = ("kkt", "orderings", "analysis", "papers")

setup(
    packages=[
        "pivotree",
        *(f"pivotree.{name}" for name in find_packages(include=[f"{room}*" for room in ROOMS])),
    ],
    package_dir={"pivotree": "pivotree"} | {f"pivotree.{room}": room for room in ROOMS},
)
