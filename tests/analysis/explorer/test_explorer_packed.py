"""Numbers that travel packed arrive to their last bit, and keep the page of a large tree small."""

import gzip
import json
import subprocess

import numpy as np
import pytest
from explorer_engine import NODE, document, geared, needs_node
from helpers import ROOT, system_of

from pivotree.analysis.explorer import explorer_data, explorer_page
from pivotree.analysis.explorer.packed import packed

SCRIPT = """
import { readFileSync } from "node:fs";
import { unpacked } from "./analysis/explorer/static/packed.mjs";
import { blocksOf } from "./analysis/explorer/static/model.mjs";
const { document, list } = unpacked(JSON.parse(readFileSync(0, "utf-8")));
const blocks = blocksOf(document.entries, document.structures.whole, (x) => x);
for (const letter in blocks) blocks[letter] = blocks[letter].map((b) => b && [...b.values]);
console.log(JSON.stringify({ entries: document.entries, list, blocks }));
"""


def read_by_the_page(document, numbers=()):
    text = json.dumps(packed({"document": document, "list": list(numbers)}))
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", SCRIPT],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return text, json.loads(done.stdout)


@pytest.mark.thorough
@needs_node
@pytest.mark.parametrize(
    "make",
    [
        lambda: system_of("chain:3"),
        lambda: system_of("random_tree:n=30,seed=3"),
        lambda: system_of("humanoid"),
        lambda: system_of("stewart"),
        geared,
    ],
)
def test_the_page_has_the_engines_numbers_bit_by_bit(make):
    """Entries as they were sent, and the blocks formed of them as those of the matrix."""
    system = make()
    sent = document(system)
    _, read = read_by_the_page(sent)
    assert read["entries"] == sent["entries"]
    e, bodies = system.entries, range(system.tree.n)
    for letter in ("M", "Phi", "a", "b"):
        theirs = [
            (np.zeros(getattr(e, letter)[k].size) if x is None else x)
            for k, x in zip(bodies, read["blocks"][letter], strict=True)
        ]
        assert np.array_equal(theirs, getattr(e, letter).reshape(len(theirs), -1)), letter


@needs_node
def test_every_double_arrives():
    """Random bits of both signs, subnormals and the largest among them."""
    bits = np.random.default_rng(5).integers(0, 2**64, 500, dtype=np.uint64).view(float)
    numbers = [float(x) for x in bits[np.isfinite(bits)]] + [5e-324, -1.7976931348623157e308, 0.1]
    text, read = read_by_the_page(document(system_of("chain:1")), numbers)
    assert list(map(float, read["list"])) == numbers and '"list": {"doubles"' in text


@pytest.mark.parametrize("model", ["chain:3", "humanoid", "chain:101", "random_tree:n=101"])
def test_the_page_of_a_large_tree_is_small(model):
    page = explorer_page(explorer_data(system_of(model), model))
    assert len(gzip.compress(page.encode())) < 120_000
