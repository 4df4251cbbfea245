"""The Lubich/Ascher KKT matrix of a tree of rigid bodies, and its elimination."""

from .errors import (
    CertificationError,
    FormatError,
    ModelError,
    OrderError,
    PivotreeError,
    SingularError,
    SizeError,
)
from .tree import BodyTree, InertiaWarning, add_body, compile_tree, new_tree

__all__ = [
    "BodyTree",
    "CertificationError",
    "FormatError",
    "InertiaWarning",
    "ModelError",
    "OrderError",
    "PivotreeError",
    "SingularError",
    "SizeError",
    "add_body",
    "compile_tree",
    "new_tree",
]
