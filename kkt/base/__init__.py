"""What every room builds on: errors, sentences, and safe handling of users' files and code."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={"files": ["beside", "check_file", "check_folder", "made", "write_whole"]}
)
