"""What every room stands on: errors, sentences, and what reads, writes or runs what is foreign."""

from .files import beside, write_whole

__all__ = ["beside", "write_whole"]
