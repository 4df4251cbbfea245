from .inputs import InputSlots as InputSlots
from .run import played as played
from .run import run as run
from .run import started as started
from .tape import Tape as Tape
from .tape import lower as lower
