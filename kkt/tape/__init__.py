"""The program as scalar operations, and the one place that plays them in a number format."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
