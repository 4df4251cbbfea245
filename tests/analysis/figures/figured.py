"""What tests of figures share: symbolic factors, and requests whose measurements are kept."""

from collections import defaultdict

from helpers import system_of

from pivotree import kkt, orderings
from pivotree.analysis.figures.kinds import Request

SMALL = "chain:3"
ORDERS = ("abm", "crbm", "bad_abm", "virtual_work", "lagrange", "natural", "divide_and_conquer")
MEASURED = defaultdict(dict)  # by the model; looks share it


def factor(spec, order):
    """The symbolic factor of an order on a model."""
    return kkt.symbolic(kkt.plan(orderings.get(order), system_of(spec).structure))


def request(spec=SMALL, **options):
    return Request(system_of(spec), memory=MEASURED[spec], **options)
