"""Sphinx: what the pages are made of, and how docstrings are read."""

import importlib
import posixpath
import re
import sys
from functools import partial

from docutils import nodes
from latex2mathml.converter import convert
from sphinx import addnodes
from sphinx.pycode import ModuleAnalyzer

project = "Pivotree"
author = "The Pivotree founders"
project_copyright = f"2026, {author}"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "docs/index"
myst_enable_extensions = ["attrs_inline", "deflist"]
myst_heading_anchors = 4
myst_fence_as_directive = ["math"]
html_math_renderer = "mathml"
suppress_warnings = ["myst.header"]
html_theme = "furo"
html_title = "Pivotree"
html_show_sphinx = False
html_extra_path = ["../extra"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"sidebar_hide_name": False}
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
exclude_patterns = ["extra"]
pygments_style = "tango"
pygments_dark_style = "monokai"
smartquotes = False


WORDS = re.compile(r"(``[^`]*``|:[a-z]+:`[^`]*`)")  # what docstrings mark up


def plain(app, what, name, obj, options, lines):
    """Docstrings are read in an editor: a star is a transpose there, a bar a size."""
    if lines and lines[0].startswith("Alias for field number"):  # Python's own, of named tuples
        lines[:] = []
    if what == "data":  # not what a dict is
        own_text = beside(name.rpartition(".")[2], obj)
        if own_text or type(obj).__module__ in ("builtins", "numpy"):
            lines[:] = own_text
    shown = False  # an example stands as it is, to the empty line after it
    for i, line in enumerate(lines):
        shown = bool(line.strip()) and (shown or line.lstrip().startswith(">>> "))
        if shown:
            continue
        bullet = re.match(r"\s*\* ", line)
        start = bullet[0] if bullet else ""
        parts = WORDS.split(line[len(start) :])
        parts[::2] = [re.sub(r"([*|`]|_(?!\w))", r"\\\1", part) for part in parts[::2]]
        lines[i] = start + "".join(parts)


def beside(name, value):
    """The text under an assignment, in whichever of our modules the value was made."""
    for module in [m for m in sys.modules if m.startswith("pivotree")]:
        if vars(sys.modules[module]).get(name) is value:
            found = ModuleAnalyzer.for_module(module).find_attr_docs()
            if ("", name) in found:
                return found["", name]
    return []


def own(app, module, name):
    """Whose source is shown: what Python made itself, such as a tuple, has none but our line."""
    value = importlib.import_module(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    return module if getattr(value, "__module__", None) == "builtins" else None


def tree_of_titles(titles, found, app, page, template, context, doctree):
    """The tree of all pages' titles, as the theme asks for it beside each page.

    Sphinx copies all headings of all pages and then throws them away: that took a third of the build.
    Pages that the tree does not name, listings of code, share it with others of their folder.
    """
    whole, env = context["toctree"], app.env
    if not titles:
        titles |= {name: title(toc) for name, toc in env.tocs.items()}
    folder = None if page in titles else posixpath.dirname(page)

    def tree(**options):
        if folder in found:
            return found[folder]
        headings, env.tocs = env.tocs, titles
        try:
            text = whole(**options)
        finally:
            env.tocs = headings
        if folder is not None:
            found[folder] = text
        return text

    context["toctree"] = tree


def title(toc):
    """A page's title without its headings; a page that lists others is left as it is."""
    if not toc.children or next(toc.findall(addnodes.toctree), None):
        return toc
    short = toc.deepcopy()
    for item in short:
        del item[1:]
    return short


def formula(self, node):
    """A formula as MathML, which browsers set without a script or a font of ours."""
    display = "block" if node.tagname == "math_block" else "inline"
    self.body.append(f'<div class="formula">{convert(node.astext(), display=display)}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
    app.connect("viewcode-follow-imported", own)
    app.connect("autodoc-process-docstring", plain)
    app.connect("html-page-context", partial(tree_of_titles, {}, {}), priority=400)  # before the theme
