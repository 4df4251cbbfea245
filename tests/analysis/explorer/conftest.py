"""One copy of each page a session; nothing is said on a console."""

import pytest

from pivotree import kkt
from pivotree.analysis.explorer import explorer_data, write_page


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Pages by the spec of their model, each written once."""
    folder, known = tmp_path_factory.mktemp("pages"), {}

    def page_of(spec, orders=("abm", "crbm", "lagrange"), formats=("float32",)):
        if spec not in known:
            data = explorer_data(kkt.build(kkt.load(spec)), spec, orders, formats)
            known[spec] = write_page(data, folder / f"{len(known)}.html")
        return known[spec]

    return page_of


@pytest.fixture
def opened(chromium, pages):
    """Opens a page; at the end nothing was said on the console and nothing left the machine."""
    said, asked, contexts = [], [], []

    def open_page(path, code="", **options):
        options = {"reduced_motion": "reduce"} | options  # the robot would be drawn 60 times a second
        context = chromium.new_context(viewport={"width": 1280, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        path = path if hasattr(path, "as_uri") else pages(path)
        page.goto(path.as_uri() + (f"#order={code}" if code else "#tool"))
        page.wait_for_selector(".grid svg")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
    assert all(url.startswith(("file:", "blob:", "data:")) for url in asked), asked
