"""``make docs-check`` finds what is stale, dead, too wide or wrong."""

import subprocess
import sys

import pytest

from pivotree.kkt.model.robots import robots_folder

pytestmark = pytest.mark.docs


def test_a_page_that_is_stale_is_told_with_its_line_and_what_mends_it(check, tmp_path, monkeypatch):
    monkeypatch.setattr(check, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    assert list(check.stale(page, "one\ntwo\n", "make it"))
    page.write_text("one\n2\n")
    told = "page.md: line 2 is '2' and should be 'two': run make it"
    assert list(check.stale(page, "one\ntwo\n", "make it")) == [told]
    assert not list(check.stale(page, "one\n3\n", "make it", r"\d"))


def test_a_dead_link_is_found_and_so_is_a_place_that_is_not_there(check, tmp_path):
    one, two = tmp_path / "one.html", tmp_path / "two.html"
    one.write_text('<a href="two.html#here">a</a><a href="two.html#there">b</a><img src="no.png">')
    two.write_text('<p id="here"><a href="https://elsewhere.org">c</a>')
    with check.beside(check.HERE / "site") as load:
        links = load("follow").Links
        pages = {path: links(path) for path in (one, two)}
        assert list(load("follow").dead(one, pages[one], pages)) == ["two.html#there", "no.png"]
        assert not list(load("follow").dead(two, pages[two], pages))
        assert pages[one].loaded == ["no.png"]


@pytest.mark.browser
def test_what_is_too_wide_is_found(check, chromium):
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    scrolls = '<pre style="overflow: auto"><div style="width: 900px">scrolls</div></pre>'
    page.set_content(f'<div style="width: 500px">wide</div>{scrolls}')
    with check.beside(check.HERE / "site") as load:
        assert page.evaluate(load("follow").WIDE) == ["DIV to 508 px: wide"]


def test_a_wrong_answer_of_the_exam_is_found(check, monkeypatch):
    with check.beside(check.HERE / "slides") as load:
        facts, exam = load("facts"), load("exam")
        monkeypatch.setattr(facts, "fill", lambda order, model: 0)
        monkeypatch.setattr(facts, "unknowns", lambda model: 90)
        assert not exam.CHECKS[0]() and not exam.CHECKS[3]() and not exam.CHECKS[4]()


def test_every_room_of_the_site_exports_names(check):
    with check.beside(check.HERE / "site") as load:
        build = load("build")
        assert {f"pivotree.analysis.{room}" for room in build.ROOMS} <= set(build.public())


def test_a_build_that_is_ended_leaves_the_old_site(check, tmp_path, monkeypatch):
    old = tmp_path / "html" / "old.html"
    old.parent.mkdir()
    old.write_text("old")

    def half(folder, made_pages):
        (folder / "html").mkdir()
        (folder / "html" / "new.html").write_text("new")
        raise KeyboardInterrupt

    with check.beside(check.HERE / "site") as load:
        monkeypatch.setattr(load("build"), "built", half)
        with pytest.raises(KeyboardInterrupt):
            load("build").build(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [old]


@pytest.mark.parametrize("script", ["generated.py", "site/build.py", "slides/make.py"])
def test_help_is_no_folder_to_write_into(check, script, tmp_path):
    words = [sys.executable, check.HERE / script, "--help"]
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, timeout=60)
    assert run.stdout.startswith(b"usage") and not list(tmp_path.iterdir())


def test_the_notebook_on_a_matrix_reaches_what_its_page_says(check):
    assert list(check.further(("mpc",))) == []


@pytest.mark.peers
@pytest.mark.parametrize("stem", ["swing_up", pytest.param("reach", marks=pytest.mark.soak)])
def test_a_notebook_on_gradients_reaches_what_its_page_says(check, stem):
    pytest.importorskip("jax", reason="jax is an extra: pip install -e '.[jax]'")
    if not robots_folder():
        pytest.skip("robots are an extra: pip install -e '.[robots]'")
    assert list(check.further((stem,))) == []
