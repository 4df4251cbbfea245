"""A robot: bodies, joints, loops, and the files, names and arrays that they come from."""

from typing import TYPE_CHECKING

from ..base.lazy import lazily

if TYPE_CHECKING:
    from .gallery import IN_PLANE, box
    from .joints import GENERAL
    from .robot_data import robot_files, robots_folder
    from .spatial import rotation, skew

WHERE = {
    "gallery": "IN_PLANE box",
    "joints": "GENERAL",
    "robot_data": "robot_files robots_folder",
    "spatial": "rotation skew",
}

__all__ = ["GENERAL", "IN_PLANE", "box", "robot_files", "robots_folder", "rotation", "skew"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazily(__name__, WHERE)
