"""Tests of what is proved attack it with the trees and ratios of benchmarks/guarantee.py."""

import sys

from helpers import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
