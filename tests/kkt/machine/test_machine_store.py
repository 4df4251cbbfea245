"""Programs and machine code on disk: the same bits always."""

import os
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from armature import with_terms
from designs import listed
from helpers import ROOT, every_joint
from machine_kernels import ABM, children_first, general

from pivotree import kkt, orderings
from pivotree.kkt.base.files import part_of
from pivotree.kkt.machine import native, store

TREE = kkt.chain(2)
posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="files of Windows have no such modes")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PIVOTREE_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def result(tree=TREE, order=ABM, **options):
    kernel = kkt.compile(tree, order, **options)
    m = np.arange(1.0, 20.0)[:, None] / 7
    return kernel(m * np.ones(kernel.nx), m * m * np.ones(kernel.N), np.ones(kernel.N))


def refuse(*_):
    raise AssertionError("made again")


def test_what_was_compiled_is_read_again(folder, monkeypatch):
    first = result()
    entries = set(folder.iterdir())
    assert len(entries) == 2  # a program, and code for vectors
    for path in entries:  # what was harmed is made again
        path.write_bytes(path.read_bytes()[:200])
    assert np.array_equal(result(), first) and all(store.read(path.stem) for path in entries)
    monkeypatch.setattr(native, "source_of", refuse)
    monkeypatch.setattr("pivotree.kkt.machine.forward_dynamics.tape_of", refuse)
    assert np.array_equal(result(), first) and set(folder.iterdir()) == entries


def test_all_that_a_program_follows_from_is_in_its_name(folder):
    heavier, turned = TREE.copy(), TREE.copy()
    heavier.nodes[next(iter(heavier))]["mass"] *= 1.0 + 2.0**-52
    turned.graph["gravity"] = (0.0, 0.1, -9.81)
    cases = [{}, {"tree": heavier}, {"tree": turned}, {"tree": kkt.build(TREE, f_ext=np.ones((2, 6)))}]
    cases += [{"format": "float32"}, {"frames": "world"}, {"bias": "inverse_dynamics"}]
    cases += [{"order": orderings.get("crbm")}, {"order": orderings.get("crbm"), "solver": "cholesky"}]
    cases += [{"outputs": ("f",)}, {"outputs": ("pdd",)}]
    made = [result(**case) for case in cases]
    entries = set(folder.iterdir())
    assert len(entries) == 2 * len(cases)
    assert all(np.array_equal(result(**case), value) for case, value in zip(cases, made, strict=True))
    result(order=lambda structure: ABM(structure))  # the same pivots by another function
    assert set(folder.iterdir()) == entries


def test_a_folder_that_cannot_be_used_is_none(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    for place in ("off", file, file / "below"):
        monkeypatch.setenv("PIVOTREE_CACHE", str(place))
        assert store.folder() is None and store.read("name") is None
        store.write("name", {"x": np.zeros(3)})
    monkeypatch.delenv("PIVOTREE_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert store.folder() == tmp_path / "x" / "pivotree"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "w"))
    assert store.folder() == tmp_path / "w" / "pivotree"


def test_what_was_longest_unread_makes_room(folder, monkeypatch):
    """Among entries: what else lies in a folder that was named is its user's."""
    monkeypatch.setattr(store, "ROOM", 5000)
    names = [f"0{store.key(i)[1:]}" for i in range(5)]
    folder.mkdir(mode=0o700)
    others = ["results.npz", "a" * 39 + ".npz", f"{names[0]}.txt"]
    for name in others:
        (folder / name).write_bytes(bytes(9000))
        os.utime(folder / name, (1, 1))
    for i in range(5):
        store.write(names[i], {"x": np.zeros(200)})
        for j in range(i + 1):
            path = folder / f"{names[j]}.npz"
            if path.exists():
                os.utime(path, (100 + j, 100 + j))
    left = {path.stem: path.stat().st_size for path in folder.iterdir() if path.name not in others}
    assert names[4] in left and names[0] not in left and sum(left.values()) <= 5000
    assert all((folder / name).stat().st_size == 9000 for name in others)


SCRIPT = """
import sys
from pivotree import kkt, orderings
kernel = kkt.compile(kkt.chain(3), orderings.get("abm"))
sys.stdout.write(kernel([0.1, 0.2, 0.3], [1, 2, 3], [3, 2, 1]).tobytes().hex())
"""


@pytest.mark.product
def test_two_processes_share_a_folder(folder):
    command = [sys.executable, "-P", "-c", SCRIPT]
    running = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told = [process.communicate(timeout=100)[0] for process in running]
    here = kkt.compile(kkt.chain(3), ABM)([0.1, 0.2, 0.3], [1, 2, 3], [3, 2, 1])
    assert told == [here.tobytes().hex()] * 2
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("format", listed(["float64", "float32"], unmarked=1))
def test_relaxed_code_is_asked_for_and_named(format, folder, monkeypatch):
    texts, source_of = [], native.source_of

    def seen(*given):
        texts.append(source_of(*given).text)
        return source_of(*given)

    monkeypatch.setattr(native, "source_of", seen)
    relaxed, strict = (result(format=format, relaxed=choice) for choice in (True, False))
    assert [" contract arcp " in text for text in texts] == [True, False]
    assert np.abs(relaxed - strict).max() <= 1e3 * np.finfo(format).eps * np.abs(strict).max()
    assert np.array_equal(result(format=format), strict)  # one is not kept for the other


DERIVED = {"outputs": ("dqdd_dq", "dqdd_dqd", "dqdd_dtau")}
SPRINGS = with_terms(kkt.random_tree(6, 5), 5)
for _, data in SPRINGS.nodes(data=True):
    data.pop("friction")
MASSLESS = kkt.chain(4)
MASSLESS.nodes["j1"].update(mass=0.0, inertia=np.zeros((3, 3)), axis=(1.0, 0.0, 0.0))
LOOSE = [("crbm", kkt.load("stewart"), {}), ("crbm_com", kkt.chain(5), {}), ("natural", kkt.chain(4), {})]
LOOSE += [
    ("abm", SPRINGS, {}),
    ("crbm", SPRINGS, {"outputs": ("inertia",)}),
    ("crbm", every_joint(), {}),
    ("abm", MASSLESS, {}),
    ("base_to_tip", kkt.random_tree(5, 9), {}),
    ("abm", kkt.humanoid(), DERIVED),
    ("abm", children_first(general()), {}),
]


@pytest.mark.parametrize("bend", [0.1, 2e-3, 1e-5, 1e-9, 1e-14, 1.5708])
def test_a_relaxed_program_keeps_its_digits_where_axes_are_all_but_parallel(bend):
    """Their common normal lies far off, at 0.3 m over the angle, and is not used there.

    1.5708 is not taken for a right angle.
    """
    tree = kkt.new_tree("bent")
    for k in range(4):
        place = {"p": (0.3, 0.2, 0.05), "axis": (np.sin(bend * k), 0.0, np.cos(bend * k))}
        body = {"mass": 1.0, "com": (0.1, 0.05, 0.02), "inertia": np.diag([0.02, 0.03, 0.04])}
        kkt.add_body(tree, f"j{k}", f"j{k - 1}" if k else None, **body, **place)
    strict, relaxed = (kkt.compile(tree, "abm", relaxed=choice) for choice in (False, True))
    q, qd, tau = np.random.default_rng(0).normal(size=(3, 20, 4))
    right = strict(q, qd, tau)
    assert (np.abs(relaxed(q, qd, tau) - right).max(1) <= 1e-14 * np.abs(right).max(1)).all()


@pytest.mark.parametrize(("order", "tree", "options"), listed(LOOSE, unmarked=3))
def test_a_relaxed_program_takes_no_more_operations_and_gives_the_same(order, tree, options):
    made = [kkt.compile(tree, orderings.get(order), relaxed=choice, **options) for choice in (True, False)]
    state = [np.linspace(-1.0, 1.0, size) for size in (made[0].nx, made[0].N, made[0].N)]
    state[0] = made[0].configuration() + 0.1 * state[0]
    relaxed, strict = (np.concatenate([x.ravel() for x in np.atleast_1d(k(*state))]) for k in made)
    assert np.abs(relaxed - strict).max() <= 1e-11 * np.abs(strict).max()
    relaxed, strict = (sum(kernel.operations.values()) for kernel in made)
    assert (
        relaxed < 0.95 * strict
        if order in ("abm", "crbm") and not tree.graph.get("loops")
        else relaxed == strict
    )


@pytest.mark.parametrize("relaxed", [False, True])
def test_a_tip_without_mass_is_refused(relaxed):
    tree = kkt.chain(3)
    tree.nodes["j3"].update(mass=0.0, inertia=np.zeros((3, 3)))
    with pytest.raises(kkt.SingularError, match="massless body 'j3'"):
        kkt.compile(tree, "abm", relaxed=relaxed)


@posix
@pytest.mark.parametrize("mode,owner", [(0o777, 0), (0o770, 0), (0o1777, 0), (0o700, 1)])
def test_a_folder_that_others_own_or_write_to_is_refused_in_a_sentence(tmp_path, monkeypatch, mode, owner):
    monkeypatch.setenv("PIVOTREE_CACHE", str(tmp_path))
    store.write("name", {"x": np.zeros(3)})
    tmp_path.chmod(mode)
    uid = os.getuid() + owner
    monkeypatch.setattr(os, "getuid", lambda: uid)
    with pytest.warns(UserWarning, match=r"cache folder .*(other users|another user).*chmod 700"):
        assert store.read("name") is None
    with pytest.warns(UserWarning):
        store.write("other", {"x": np.zeros(3)})
    assert [path.stem for path in tmp_path.iterdir()] == ["name"]


@pytest.fixture
def others(monkeypatch):
    """What lies at these places belongs to another user, or to this one with another mode."""
    status_of = {"stat": os.stat, "lstat": os.lstat, "fstat": os.fstat}
    foreign = set()

    def told(name):
        def call(place, *given, **more):
            found = status_of[name](place, *given, **more)
            if (found.st_dev, found.st_ino) not in foreign:
                return found
            return os.stat_result([*found[:4], found.st_uid + 1, *found[5:10]])

        return call

    for name in status_of:
        monkeypatch.setattr(os, name, told(name))

    def give_away(path):
        status = status_of["lstat"](path)
        foreign.add((status.st_dev, status.st_ino))

    return give_away


@pytest.fixture
def no_mask():
    """Modes are as they are asked for."""
    before = os.umask(0)
    yield
    os.umask(before)


@posix
@pytest.mark.parametrize("whose", ["another's", "written by all", "a link", "a folder", "a pipe"])
def test_an_entry_that_others_may_have_put_there_is_made_anew(folder, tmp_path, others, no_mask, whose):
    """Its checksum is right: others can compute one, too.  The folder is closed to them now."""
    store.write("one", {"x": np.arange(3)})
    path, away = store.folder() / "one.npz", tmp_path / "away.npz"
    modes = [stat.S_IMODE(place.stat().st_mode) for place in (path.parent, path)]
    assert path.parent == folder and modes == [0o700, 0o600]
    if whose == "another's":
        others(path)
        os.link(path, tmp_path / "held")  # no other file is it, however the system counts
    elif whose == "written by all":
        path.chmod(0o666)
    else:
        path.rename(away)
        put = {
            "a link": partial(path.symlink_to, away),
            "a folder": path.mkdir,
            "a pipe": partial(os.mkfifo, path),
        }
        put[whose]()
    kept = away.read_bytes() if away.exists() else b""
    assert store.read("one") is None
    store.write("one", {"x": np.arange(4)})
    if whose != "a folder":  # nothing of its user's is removed with what it holds
        assert np.array_equal(store.read("one")["x"], np.arange(4))
    assert not path.is_symlink() and (not kept or away.read_bytes() == kept)


@posix
def test_what_comes_into_the_folder_s_place_after_the_check_is_not_run(folder, tmp_path, monkeypatch, others):
    """Another may rename the folder where its parent is theirs; the file that is read is judged."""
    store.write("one", {"x": np.arange(3)})
    checked = store.folder()
    monkeypatch.setattr(store, "folder", lambda: checked)  # looked at, and found good
    checked.rename(tmp_path / "away")
    checked.mkdir()
    (checked / "one.npz").write_bytes((tmp_path / "away" / "one.npz").read_bytes())
    (checked / "one.npz").chmod(0o644)
    assert store.read("one") is not None  # it is this user's own
    others(checked / "one.npz")
    assert store.read("one") is None


@posix
def test_a_link_in_the_folder_s_place_is_its_user_s_own(tmp_path, monkeypatch, others):
    """In /tmp, say, another's could have entries written into any folder of this user."""
    kept, link = tmp_path / "kept", tmp_path / "link"
    kept.mkdir(mode=0o700)
    link.symlink_to(kept)
    monkeypatch.setenv("PIVOTREE_CACHE", str(link))
    store.write("one", {"x": np.arange(3)})
    assert store.read("one") is not None and (kept / "one.npz").exists()
    others(link)
    with pytest.warns(UserWarning, match="is a link of another user"):
        assert store.read("one") is None


def test_a_part_that_lies_there_is_not_written_through(folder, tmp_path):
    """Its name can be guessed: a link there may point to any file of the user."""
    store.write("other", {"x": np.arange(3)})
    (tmp_path / "mine").write_text("mine")
    part_of(folder / "one.npz").symlink_to(tmp_path / "mine")
    store.write("one", {"x": np.arange(3)})
    assert (tmp_path / "mine").read_text() == "mine" and store.read("one") is None
    store.write("one", {"x": np.arange(3)})
    assert store.read("one") is not None


@pytest.mark.parametrize("home", listed(["/proc/none", "", "/dev/null", "NOWHERE"]))
def test_without_a_home_that_can_be_written_nothing_is_kept_and_all_is_computed(tmp_path, monkeypatch, home):
    monkeypatch.delenv("PIVOTREE_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file") if home == "NOWHERE" else home)
    if home == "":  # Python takes the root folder for it
        monkeypatch.setattr(Path, "mkdir", refuse_to_write)
    assert store.folder() is None
    assert np.isfinite(result()).all()


def refuse_to_write(*_, **__):
    raise PermissionError(13, "Permission denied")


def test_an_entry_under_another_name_is_none(folder):
    """Machine code of one robot is never run for another, nor cut off or with any bit flipped."""
    store.write("one", {"x": np.arange(3)})
    path = folder / "one.npz"
    whole = path.read_bytes()
    path.with_stem("two").write_bytes(whole)
    assert store.read("two") is None
    flipped = (whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :] for at in range(len(whole)))
    for harmed in (whole[:100], b"", b"text", *flipped):
        path.touch(0o600)
        path.write_bytes(harmed)
        assert store.read("one") is None and not path.exists()
    path.touch(0o600)
    path.write_bytes(whole)
    assert np.array_equal(store.read("one")["x"], np.arange(3))
