"""What every room builds on: errors, sentences, and safe handling of users' files and code."""

from .files import beside, write_whole

__all__ = ["beside", "write_whole"]
