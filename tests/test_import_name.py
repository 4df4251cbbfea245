"""One import name: pivotree lives beside other people's kkt, orderings, analysis and papers."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from helpers import ROOT

import pivotree as pt

ROOMS = ("kkt", "orderings", "analysis", "papers")
CHANGES = (ROOT / "CHANGELOG.md").read_text()
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """A source distribution and a wheel of each of two builds that have only their date alike."""
    made = []
    for day, umask, zone in ((0, 0o022, "UTC"), (1, 0o077, "Asia/Tokyo")):
        source, place = tmp_path_factory.mktemp("a source"), tmp_path_factory.mktemp("made")
        skipped = shutil.ignore_patterns(".git", ".venv", "__pycache__", "*.egg-info", "build", "*_cache")
        shutil.copytree(ROOT, source, dirs_exist_ok=True, ignore=skipped)
        for path in source.rglob("*"):
            os.utime(path, (1e9 + 86_400 * day,) * 2)
            path.chmod(path.stat().st_mode & ~umask)
        place = str(place)
        build = f"b.build_sdist({place!r}); b.build_wheel({place!r})"
        subprocess.run(
            [sys.executable, "-c", f"from setuptools import build_meta as b; {build}"],
            cwd=source,
            capture_output=True,
            check=True,
            umask=umask,
            env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000", "TZ": zone, "PYTHONHASHSEED": str(day)},
        )
        made.append(sorted(Path(place).iterdir()))  # the wheel is first
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel that ``pip install .`` installs, from a copy: a build leaves folders behind."""
    source, place = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "src", *ROOMS):
        (source / name).symlink_to(ROOT / name)
    build = f"from setuptools import build_meta; build_meta.build_wheel({str(place)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, check=True)
    return next(place.glob("*.whl"))


@pytest.mark.soak
@pytest.mark.skipif(os.name != "posix", reason="files of Windows have no such modes")
def test_wheels_are_the_same_bytes_whoever_builds_them(distributions):
    (first, _), (second, _) = distributions
    assert first.name == second.name and first.suffix == ".whl"
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:  # who installs it as root lets others read it
        assert all(one.external_attr >> 16 & 0o444 == 0o444 for one in archive.infolist())


@pytest.mark.soak
def test_source_distributions_are_the_same_bytes_and_the_whole_repository(distributions):
    (_, first), (_, second) = distributions
    assert first.suffixes[-2:] == [".tar", ".gz"] and first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no checkout to compare with")
    assert set(listed.stdout.split("\n")) - {""} <= names


def run(*command, paths=(), cwd):
    """What a Python prints that finds packages in these folders first; it compiles nothing."""
    path = os.pathsep.join(map(str, paths))
    return subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        text=True,
        capture_output=True,
        check=True,
        env=os.environ | {"PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1"},
    ).stdout.split()


@pytest.mark.product
def test_the_wheel_has_every_file_and_one_package(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {n for n in archive.namelist() if ".dist-info/" not in n}
    assert {name.partition("/")[0] for name in names} == {"pivotree"}
    there = {
        f"pivotree/{path.relative_to(ROOT)}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.suffix in (".py", ".pyi", ".mjs", ".css", ".toml")
    }
    there |= {f"pivotree/{name}" for name in ("py.typed", "__init__.py", "__init__.pyi")}
    assert there <= names, there - names


@pytest.mark.product
def test_other_peoples_packages_of_these_names_keep_them(wheel, tmp_path):
    for room in ROOMS:
        (tmp_path / "others" / room).mkdir(parents=True)
        (tmp_path / "others" / room / "__init__.py").write_text("WHOSE = 'theirs'\n")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = (
        "import kkt, orderings, analysis, papers, pivotree as pt\n"
        "print(*(room.WHOSE for room in (kkt, orderings, analysis, papers)))\n"
        "system = pt.build(pt.chain(2))\n"
        "print(len(pt.eliminate(system, pt.orderings.get('abm')).qdd), pt.papers.PAPERS[0])\n"
        "print(pt.kkt.__file__)\n"
    )
    told = run("-c", code, paths=(tmp_path / "site", tmp_path / "others"), cwd=tmp_path)
    assert told[:6] == [*["theirs"] * 4, "2", "ascher1996"]
    assert told[6] == str(tmp_path / "site/pivotree/kkt/__init__.py")
    imported = run(
        "-c", "import pivotree.kkt; print(pivotree.kkt.__file__)", paths=[tmp_path / "site"], cwd=ROOT
    )
    assert imported == told[6:]  # in the root of a checkout, too
    assert "chain:100" in run("-m", "pivotree", "models", paths=[tmp_path / "site"], cwd=ROOT)


@pytest.mark.product
def test_an_order_of_ones_own_beside_files_of_these_names(tmp_path):
    """A notebook's folder may hold an analysis.py and a kkt.py."""
    for room in ROOMS:
        (tmp_path / f"{room}.py").write_text("raise SystemExit('the wrong file')\n")
    (tmp_path / "mine.py").write_text(
        "import pivotree as pt\n"
        "@pt.order('mine', source='a notebook')\n"
        "def mine(structure):\n"
        "    return [[('pdd', k), ('qdd', k), ('f', k)] for k in structure.tip_to_base]\n"
        "system, abm = pt.build(pt.chain(3)), pt.orderings.get('abm')\n"
        "print(*pt.eliminate(system, mine).qdd == pt.eliminate(system, abm).qdd)\n"
    )
    assert run("-c", "import mine", cwd=tmp_path) == ["True"] * 3
    assert run("-m", "pivotree", "solve", "chain:2", "--order", "mine.py:mine", cwd=tmp_path)


def test_there_is_no_second_copy_in_the_root():
    """Its exceptions would be other classes than those of pivotree."""
    for room in ROOMS:
        with pytest.raises(subprocess.CalledProcessError) as refused:
            run("-c", f"import {room}", cwd=ROOT)
        assert refused.value.stderr.rstrip().endswith(f"ImportError: import pivotree.{room}")


def test_a_checkout_without_links_says_what_to_do(tmp_path):
    """Where users may not make links, git writes each as a file that holds its target."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns(*ROOMS))
    for room in ROOMS:
        (tmp_path / "src/pivotree" / room).write_text(f"../../{room}")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        run("-c", "import pivotree", paths=[tmp_path / "src"], cwd=tmp_path)
    assert "git config core.symlinks true" in refused.value.stderr.splitlines()[-1]


def test_every_place_that_says_the_version_says_that_of_pyproject():
    version = SETTINGS["project"]["version"]
    short = version.rpartition(".")[0]
    said = {"CITATION.cff": f"\nversion: {version}\n", "docs/prior_art.md": f"  version = {{{short}}},"}
    said["README.md"] = f"> version {short}, "
    day = re.search(rf"^## {re.escape(version)}, (\d{{4}}-\d\d-\d\d)$", CHANGES, re.M)[1]
    said["CITATION.cff"] += f"date-released: {day}\n"
    said[".zenodo.json"] = f'  "version": "{version}",\n  "publication_date": "{day}",\n'
    assert [file for file, text in said.items() if text not in (ROOT / file).read_text()] == []
    assert pt.__version__ == version


def test_what_is_released_needs_and_is_tested_on_what_pyproject_says():
    project = SETTINGS["project"]
    tested = (ROOT / ".github/workflows/tests.yml").read_text()
    pythons = [one.rpartition(" ")[2] for one in project["classifiers"] if ":: 3." in one]
    listed = ", ".join(f'"{one}"' for one in pythons)
    assert f"python: [{listed}]" in tested
    recipe = (ROOT / ".ci/conda/recipe.yaml").read_text()
    for needed in project["dependencies"]:
        assert f"- {needed.replace('>=', ' >=').replace('matplotlib', 'matplotlib-base')}\n" in recipe
    assert f'version: "{project["version"]}"' in recipe


def test_hooks_run_the_ruff_that_make_lint_runs():
    pinned = dict(one.split("==") for one in SETTINGS["dependency-groups"]["lint"])
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    assert f"ruff-pre-commit\n    rev: v{pinned['ruff']} " in hooks
