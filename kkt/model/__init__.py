"""A robot: bodies, joints, loops, and the files, names and arrays that they come from."""

from .gallery import IN_PLANE, box
from .joints import GENERAL
from .robot_data import robot_files, robots_folder
from .spatial import rotation, skew

__all__ = [
    "GENERAL",
    "IN_PLANE",
    "box",
    "robot_files",
    "robots_folder",
    "rotation",
    "skew",
]
