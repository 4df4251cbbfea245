"""What the explorer's page costs: its size, and in headless Chromium first paint and clicks.

    python benchmarks/explorer.py [--bodies N] [--repeat N]

Needs playwright and a Chromium that is installed.  Sizes are those of ``pivotree explore``'s page,
compressed; times are medians of milliseconds, from opening the file, and from a click until it is
drawn.  The empty page is what any page costs here.  CRBM fills all of a chain's qdd: the most.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.table import Table

from pivotree import kkt
from pivotree.analysis.explorer import explorer_data, write_page

CLICKS = """async () => {
  const step = document.querySelector('[aria-label^="Next step"]');
  const times = [];
  for (let k = 0; k < 15; k++) {
    await new Promise((done) => setTimeout(done, 60));
    const start = performance.now();
    step.click();
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
    times.push(performance.now() - start);
  }
  const start = performance.now();
  document.querySelector('[aria-label^="To the end"]').click();
  return [times, performance.now() - start];
}"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", type=int, default=101, help="of the tree that is clicked (101)")
    parser.add_argument("--repeat", type=int, default=5, help="pages opened (5)")
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        parser.error("Chromium is not installed")
    table = Table(
        "[ms]", "first paint", "click to repaint", "the slowest", "to the end", "gzip [kB]", box=None
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        empty = Path(folder) / "empty.html"
        empty.write_text("<!doctype html><title>empty</title><p>empty", encoding="utf-8")
        small = explorer_data(kkt.build(kkt.chain(3)), "chain:3", ["abm", "crbm"], ["float32"])
        pages = {"empty": empty, "chain:3": write_page(small, Path(folder) / "small.html")}
        for spec in (f"random_tree:n={options.bodies},seed=1,joints=revolute", f"chain:{options.bodies}"):
            large = explorer_data(kkt.build(kkt.load(spec)), spec)
            name = f"{spec.partition(',')[0]}, crbm@40"
            pages[name] = write_page(large, Path(folder) / f"{len(pages)}.html")
        for name, path in pages.items():
            paints, clicks, ends = [], [], []
            for _ in range(options.repeat):
                page: Any = browser.new_page(viewport={"width": 1280, "height": 900})
                code = "#order=crbm@40" if "crbm" in name else ""
                page.goto(path.as_uri() + code)
                page.wait_for_timeout(700)
                paints.append(page.evaluate(PAINT))
                if code:
                    times, end = page.evaluate(CLICKS)
                    clicks += times
                    ends.append(end)
                page.close()
            shown = [statistics.median(paints)]
            if clicks:
                shown += [statistics.median(clicks), max(clicks), statistics.median(ends)]
            told = [f"{time:.0f}" for time in shown] + [""] * (4 - len(shown))
            table.add_row(name, *told, f"{len(gzip.compress(path.read_bytes())) / 1000:.1f}")
        browser.close()
    Console().print(table)


if __name__ == "__main__":
    main()
