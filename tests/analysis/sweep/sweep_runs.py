"""What tests of sweeps share: configurations, tables, and the processes that make them."""

import csv
from pathlib import Path

SMALL = """
output = "{output}"
models = ["chain:3", "two_link:r={{r}}", "binary:{{k}}"]
orders = ["crbm", "abm"]
formats = ["float32", "bfloat16"]
measure = ["error", "digits", "backward_error", "marked", "kappa", "fill", "flops", "failed_at"]
[ranges]
r = [0.5, 1e-3]
k = {{ from = 1, to = 2, step = 1 }}
[states]
number = 3
seed = 5
"""


def config(folder, text, output="s.csv"):
    path = folder / f"{Path(output).stem}.toml"
    path.write_text(text.format(output=folder / output))
    return path


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def kept(output):
    """Keys of the rows so far, none of whose lines is torn."""
    rows = table(output.with_name(f"{output.name}.parts"))
    assert all(None not in row and None not in row.values() for row in rows)
    return [row["key"] for row in rows]
