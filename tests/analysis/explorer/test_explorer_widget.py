"""The explorer as a widget: the page's order in Python, and for real in a notebook."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from dataclasses import replace
from importlib import import_module

import networkx as nx
import numpy as np
import pytest
from designs import covering
from explorer_page import groups_of
from helpers import one_sentence, system_of

from pivotree import kkt, orderings
from pivotree.analysis.explorer import bundle

SPEC = "random_tree:n=6,seed=2"


def test_without_anywidget_one_sentence_says_what_to_install(monkeypatch):
    room = "pivotree.analysis.explorer"
    monkeypatch.setitem(sys.modules, "anywidget", None)
    for name in ("server", "widget"):  # afterwards those that others have are there again
        monkeypatch.setattr(import_module(room), name, None, raising=False)
        monkeypatch.delitem(sys.modules, f"{room}.{name}", raising=False)
    import_module(f"{room}.server")
    with one_sentence(ImportError, "pip install anywidget"):
        import_module(f"{room}.widget")


@pytest.fixture
def made():
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    from pivotree.analysis.explorer.widget import Explorer

    opened = []

    def make(model=SPEC, orders=("abm", "modified_abm_stretched"), formats=("float32",)):
        opened.append(Explorer(model, orders, formats))
        return opened[-1]

    yield make
    for widget in opened:
        widget.close()


def as_the_page(system, name):
    """The traits that the page sets after an order."""
    sequence = kkt.plan(orderings.get(name), system.structure).sequence
    rules = {k: v for k, v in vars(sequence.rules).items() if v != getattr(kkt.Rules(), k)}
    groups = groups_of(system, name)
    made = {"code": f"{name}@{len(groups)}", "groups": groups, "complete": True}
    return made | {"rules": rules, "links": sequence.links}


def test_the_widget_runs_the_pages_module(made):
    widget = made("chain:2", ["abm"])
    assert widget._esm.startswith(bundle()) and "\nimport " not in widget._esm
    assert "export default" in widget._esm and ".pivotree" in widget._css
    state = widget.get_state()
    assert json.loads(json.dumps(state["data"], allow_nan=False))["schema"] == "pivotree-explorer/1"
    assert {"code", "groups", "links", "rules", "complete"} <= set(state)


@pytest.mark.parametrize("name", covering(["abm", "modified_abm_stretched", "crbm", "gain_abm"]))
def test_the_order_is_back_in_python_and_in_a_file(made, tmp_path, name):
    widget, seen = made(), []
    widget.observe(lambda change: seen.append((change.new, len(widget.groups))), "code")
    widget.set_state(as_the_page(widget.system, name))
    assert seen == [(widget.code, len(widget.groups))] and widget.complete
    want = kkt.eliminate(widget.system, orderings.get(name), "float32").qdd
    assert np.array_equal(kkt.eliminate(widget.system, widget.order, "float32").qdd, want)
    order = orderings.get(str(widget.save(tmp_path / "own.json")))
    assert np.array_equal(kkt.eliminate(widget.system, order, "float32").qdd, want)


def test_loops_are_found_by_their_texts_also_where_a_body_has_the_same_name(made):
    tree = kkt.four_bar()
    nx.relabel_nodes(tree, {"rocker": "pin"}, copy=False)
    (loop,) = tree.graph["loops"]
    tree.graph["loops"] = [replace(loop, bodies=("coupler", "pin"))]
    widget = made(kkt.build(tree), ["closed_early"])
    widget.set_state(as_the_page(widget.system, "closed_early"))
    assert ["lam", "pin"] in [list(block) for group in widget.groups for block in group]
    want = kkt.eliminate(widget.system, orderings.get("closed_early")).qdd
    assert np.array_equal(kkt.eliminate(widget.system, widget.order).qdd, want)


@pytest.mark.product
def test_bodies_are_found_whose_names_are_no_texts(made):
    widget = made(kkt.example1(), ["abm"])
    assert not any(isinstance(name, str) for name in widget.system.structure.names)
    widget.set_state(as_the_page(widget.system, "abm"))
    want = kkt.eliminate(widget.system, orderings.get("abm")).qdd
    assert np.array_equal(kkt.eliminate(widget.system, widget.order).qdd, want)


def test_an_order_half_made_is_refused_by_the_engine(made):
    widget = made(system_of("chain:3"), ["abm"])
    widget.set_state({"groups": [[["pdd", "j3"], ["f", "j3"]]], "code": "w.p2f2"})
    with pytest.raises(kkt.OrderError, match="leaves out"):
        kkt.eliminate(widget.system, widget.order)
    with pytest.raises(kkt.FormatError, match=r"no/such.*cannot be written"):
        widget.save("no/such/place.json")


# -- in a notebook --------------------------------------------------------------------------------

# what both show: the widget, a button that sets its order, and what Python has of it
TOLD = """
from pivotree import kkt
from pivotree.analysis.explorer.widget import Explorer
own = Explorer("chain:3", orders=["abm", "crbm"], formats=["float32"])
def told():
    qdd = kkt.eliminate(own.system, own.order, "float32").qdd if own.complete else ()
    numbers = " ".join(float(x).hex() for x in qdd) or "not yet"
    return f"Python has {own.code}, {len(own.groups)} groups: {numbers}."
"""
MARIMO = """
import marimo
app = marimo.App()

@app.cell
def _():
    import marimo as mo
    from told import own, told
    explorer = mo.ui.anywidget(own)
    button = mo.ui.button(label="From Python", on_click=lambda _: own.set_trait("code", "crbm@2"))
    mo.vstack([explorer, button])
    return explorer, mo, told

@app.cell
def _(explorer, mo, told):
    explorer.value
    mo.md(told())
    return
"""
CELL = """from ipywidgets import HTML, Button, VBox
from told import own, told
button, label = Button(description="From Python"), HTML(told())
button.on_click(lambda _: own.set_trait("code", "crbm@2"))
own.observe(lambda _: label.set_trait("value", told()))
VBox([own, button, label])"""
LAB = {
    "cells": [{"cell_type": "code", "metadata": {}, "source": CELL, "outputs": [], "execution_count": None}],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    **{"nbformat": 4, "nbformat_minor": 4},
}
NOTEBOOKS = {  # what it is called, what stands in it, how it is served, and where it is seen
    "marimo": ("in.py", MARIMO, "run in.py --headless --no-token --host 127.0.0.1", ""),
    "jupyterlab": (
        *("in.ipynb", json.dumps(LAB), "--no-browser --allow-root --IdentityProvider.token= --ip=127.0.0.1"),
        "lab/tree/in.ipynb",
    ),
}


@pytest.fixture(params=NOTEBOOKS)
def notebook(request, tmp_path):
    """The address of a notebook, which marimo runs, or JupyterLab once its cell is run."""
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    name, text, serve, where = NOTEBOOKS[request.param]
    (tmp_path / "told.py").write_text(TOLD)
    (tmp_path / name).write_text(text)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {f"JUPYTER_{of}_DIR": str(tmp_path / of) for of in ("CONFIG", "DATA", "RUNTIME")}
    process = subprocess.Popen(
        [sys.executable, "-m", request.param, *serve.split(), f"--port={port}"],
        cwd=tmp_path,
        env=os.environ | own,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(300):
            with socket.socket() as ready:
                if ready.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/{where}"
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.soak
@pytest.mark.peers  # whose environment holds marimo, from the extra `lessons`, and JupyterLab
def test_in_a_notebook_an_order_comes_back_to_python(notebook, chromium):
    system = system_of("chain:3")
    page = chromium.new_page(viewport={"width": 1280, "height": 1300})
    page.set_default_timeout(60_000)
    failed = []
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto(notebook)
    if "lab/tree" in notebook:
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        page.locator(".jp-Notebook .cm-content").first.click()
        page.keyboard.press("Shift+Enter")
    page.get_by_text(re.compile("Python has .*0 groups: not yet")).wait_for()
    for title, steps, name in ((r"^Replay crbm", 3 + 3, "crbm"), (r"^Replay abm", 3, "abm")):
        page.get_by_title(re.compile(title)).click()
        page.get_by_title(re.compile(r"^To the end of the order")).click()
        qdd = kkt.eliminate(system, orderings.get(name), "float32").qdd
        want = " ".join(float(x).hex() for x in qdd)
        page.get_by_text(f"Python has {name}@{steps}, {steps} groups: {want}.").wait_for()
    page.get_by_role("button", name="From Python").click()
    page.get_by_text("Step 2 of crbm.").wait_for()
    page.get_by_text("Python has crbm@2, 2 groups: not yet.").wait_for()
    page.close()
    assert failed == []
