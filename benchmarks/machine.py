"""The machine, and the versions of everything that is measured on it."""

from __future__ import annotations

import ctypes.util
import importlib.metadata
import importlib.util
import os
import platform
import re
from pathlib import Path
from typing import Any

PACKAGES = (
    "pivotree",
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "pin",
    "mujoco",
    "mujoco-mjx",
    "jax",
    "jax-cuda13-plugin",
    "cupy-cuda13x",
    "example-robot-data",
    "cvxopt",
    "pypardiso",
    "mkl",
    "python-mumps",
    "qdldl",
    "pymetis",
)


def machine() -> dict[str, Any]:
    """Processor, cores, memory [GB], system, and versions by package."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory": _memory(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": versions(),
    }


def load() -> float | None:
    """Processes that ran or waited, the mean over a minute."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    for name in ("cholmod", "umfpack"):
        library = _of_cvxopt(name)
        if library:
            found[name.upper()] = library
    klu = ctypes.util.find_library("klu")
    if klu:
        found["KLU"] = klu
    return found


def _of_cvxopt(name: str) -> str:
    """Version in the file's name of a library that cvxopt brings."""
    found = importlib.util.find_spec("cvxopt")
    if found is None or not found.origin:
        return ""
    files = Path(found.origin).parent.parent.glob(f"cvxopt.libs/lib{name}*")
    return next((f.name.partition(".so.")[2] for f in files), "")


def _processor() -> str:
    import llvmlite.binding as llvm

    told = re.search(r"model name\s*: (.*)", _read("/proc/cpuinfo"))
    return f"{told[1].strip() if told else platform.processor()} ({llvm.get_host_cpu_name()})"


def _memory() -> float | None:
    told = re.search(r"MemTotal:\s*(\d+) kB", _read("/proc/meminfo"))
    return round(int(told[1]) * 1024 / 1e9, 1) if told else None


def _read(path: str) -> str:
    return Path(path).read_text() if Path(path).exists() else ""
