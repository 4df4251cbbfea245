from . import analysis as analysis
from . import kkt as kkt
from . import orderings as orderings
from . import papers as papers
from .analysis import Blame as Blame
from .analysis import ClosedForm as ClosedForm
from .analysis import Comparison as Comparison
from .analysis import Row as Row
from .analysis import blame as blame
from .analysis import closed_form as closed_form
from .analysis import compare as compare
from .analysis import in_letters as in_letters
from .analysis import search as search
from .analysis import spy as spy
from .kkt import *  # noqa: F403
from .kkt.solution.matrix import matrix as matrix
from .orderings import order as order

__version__: str
