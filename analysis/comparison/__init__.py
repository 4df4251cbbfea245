"""Orders beside each other on one system: rows, what they are held against, and a verdict."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
