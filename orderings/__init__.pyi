from .aliases import ALIASES as ALIASES
from .aliases import Alias as Alias
from .catalogue import LOOPS as LOOPS
from .catalogue import ORDERS as ORDERS
from .catalogue import get as get
from .catalogue import names as names
from .graphs import GRAPHS as GRAPHS
from .registry import order as order
