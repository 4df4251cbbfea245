"""The process that measures: ``python -m analysis.explorer.worker``, spoken to through its pipes.

It reads a pickled system, then pickled questions, and answers each with a line of JSON.  It ends
when its input does, which is when the process that started it ends, however that ends.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import warnings
from typing import Any

from pivotree.kkt.base.processes import end_with

from .asked import Measurer, refusal


def main() -> None:
    end_with(os.getppid())
    warnings.simplefilter("ignore")
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what anything prints is no answer

    def answer(document: dict[str, Any]) -> None:
        sink.write(json.dumps(document, allow_nan=False).encode() + b"\n")
        sink.flush()

    measure = Measurer(pickle.load(source))
    answer({"ready": True})
    while True:
        try:
            question = pickle.load(source)
        except EOFError:
            return
        try:
            answer(measure(question))
        except MemoryError:
            answer(refusal("not enough memory for this order"))
        except Exception as error:
            answer(refusal(f"cannot be measured ({type(error).__name__}: {error})"))


if __name__ == "__main__":
    main()
