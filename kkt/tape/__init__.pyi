from .inputs import InputSlots as InputSlots
from .run import played as played
from .run import rounded_into as rounded_into
from .run import run_floats as run_floats
from .run import run_objects as run_objects
from .tape import Tape as Tape
from .tape import lower as lower
