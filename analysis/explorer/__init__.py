"""The explorer: equation (4), eliminated by hand on a page that needs nothing else."""

from .data import explorer_data
from .page import Embedded, bundle, embedded, explorer_page, explorer_styles, write_page

__all__ = [
    "Embedded",
    "bundle",
    "embedded",
    "explorer_data",
    "explorer_page",
    "explorer_styles",
    "write_page",
]
