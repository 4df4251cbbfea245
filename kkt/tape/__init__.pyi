from .inputs import InputSlots as InputSlots
from .player import played as played
from .player import run as run
from .player import started as started
from .tape import Tape as Tape
from .tape import lower as lower
