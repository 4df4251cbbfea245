from .gallery import IN_PLANE as IN_PLANE
from .gallery import box as box
from .joints import GENERAL as GENERAL
from .robots import robot_files as robot_files
from .robots import robots_folder as robots_folder
from .rotations import from_quaternion as from_quaternion
from .spatial import rotation as rotation
from .spatial import skew as skew
