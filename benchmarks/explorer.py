"""What the explorer's page costs in headless Chromium: first paint, and a click until it is drawn.

    python benchmarks/explorer.py [--bodies N] [--repeat N]

Needs playwright and a Chromium that is installed.  Medians of milliseconds, the page opened from a
file; the empty page is what any page costs here.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.table import Table

import kkt
from analysis.explorer import explorer_data, write_page

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
  return times;
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
    table = Table("page", "first paint [ms]", "click to repaint [ms]", box=None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        empty = Path(folder) / "empty.html"
        empty.write_text("<!doctype html><title>empty</title><p>empty", encoding="utf-8")
        tree = kkt.load(f"random_tree:n={options.bodies},seed=1,joints=revolute")
        large = explorer_data(kkt.build(tree), "large", ["crbm"], [])
        small = explorer_data(kkt.build(kkt.chain(3)), "chain:3", ["abm", "crbm"], ["float32"])
        pages = {
            "empty": empty,
            "chain:3": write_page(small, Path(folder) / "small.html"),
            f"{options.bodies} bodies, crbm from step 40": write_page(
                large, Path(folder) / "large.html"
            ),
        }
        for name, path in pages.items():
            paints, clicks = [], []
            for _ in range(options.repeat):
                page: Any = browser.new_page(viewport={"width": 1280, "height": 900})
                code = "#order=crbm@40" if "crbm" in name else ""
                page.goto(path.as_uri() + code)
                page.wait_for_timeout(700)
                paints.append(page.evaluate(PAINT))
                if code:
                    clicks += page.evaluate(CLICKS)
                page.close()
            shown = f"{statistics.median(clicks):.0f}" if clicks else ""
            table.add_row(name, f"{statistics.median(paints):.0f}", shown)
        browser.close()
    Console().print(table)


if __name__ == "__main__":
    main()
