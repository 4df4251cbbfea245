"""Draw docs/architecture.svg, the rooms of the house, from the imports that the code has.

Run it as ``python docs/architecture.py`` after a room is added or an import crosses a border. A
room is a folder; files that stand beside folders are one room together. An arrow says "imports",
wherever the import stands: at the top of a file, in a function, under TYPE_CHECKING. Arrows that
follow from others are left out.  ``python docs/architecture.py --check``, a part of ``make lint``,
says which imports run upwards or close a circle, and whether the picture is current.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("kkt", "orderings", "analysis", "papers")
OPTIONAL = ("kkt/machine", "kkt/scale", "kkt/theorem")  # rooms that the heart does without
WIDTH, HEIGHT, GAP, FLOOR = 148, 32, 14, 66  # of a room, between rooms, between floors [px]
STYLE = """
  text { font: 13px system-ui, sans-serif; text-anchor: middle; fill: #1b1f24 }
  rect { fill: #f6f8fa; stroke: #57606a; rx: 6px }
  .kkt rect { fill: #ddf4ff; stroke: #0969da }
  .orderings rect { fill: #fff8c5; stroke: #9a6700 }
  .analysis rect { fill: #dafbe1; stroke: #1a7f37 }
  path { fill: none; stroke: #8c959f; marker-end: url(#tip) }
  marker path { fill: #8c959f; stroke: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    rect { fill: #21262d; stroke: #9198a1 }
    .kkt rect { fill: #0c2d6b; stroke: #58a6ff } .orderings rect { fill: #4b2900; stroke: #d29922 }
    .analysis rect { fill: #033a16; stroke: #3fb950 } path { stroke: #6e7681 }
    marker path { fill: #6e7681 }
  }"""


def module_of(path: Path) -> str:
    """The name that a file is imported by, without ``pivotree.``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def sources() -> dict[str, Path]:
    """Every module of the packages, and its file."""
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return {module_of(path): path for path in files if "__pycache__" not in path.parts}


@cache
def imports(path: Path) -> frozenset[str]:
    """Modules that a file imports, each by its full name without ``pivotree.``."""
    return frozenset(_imports(path, sources()))


def _imports(path: Path, known: dict[str, Path]) -> Iterator[str]:
    stub = path.with_suffix(".pyi")  # what a lazy face loads
    text = "\n".join(file.read_text(encoding="utf-8") for file in (path, stub) if file.exists())
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.removeprefix("pivotree.") for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if path.stem == "__init__" and node.level == 1 and not base:
                continue  # a face names the modules beside it, and needs none
            if node.level:
                own = module_of(path).split(".")
                package = own if path.stem == "__init__" else own[:-1]
                above = package[: len(package) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}".removeprefix("pivotree.")
                yield inner if inner in known else base.removeprefix("pivotree.")


def room_of(module: str) -> str:
    """The folder that a module lies in; papers are one room, orderings too."""
    package, *inner = module.split(".")
    if package in ("papers", "orderings") or not inner:
        return package
    return f"{package}/{inner[0]}" if (ROOT / package / inner[0]).is_dir() else package


def folder_of(module: str) -> str:
    """The folder of a package that a module lies in, or the module, if it lies in none."""
    parts = module.split(".")
    return ".".join(parts[:2]) if (ROOT / parts[0] / "".join(parts[1:2])).is_dir() else module


def house(named: Callable[[str], str] = room_of) -> nx.DiGraph:
    """Rooms, and who imports whom; or modules, where ``named`` is ``str``."""
    known = sources()
    graph = nx.DiGraph()
    graph.add_nodes_from(map(named, known))
    for module, path in known.items():
        for target in sorted(imports(path) & known.keys()):  # sums of places round by their order
            if named(target) != named(module):
                graph.add_edge(named(module), named(target))
    return graph


def faults() -> Iterator[str]:
    """Sentences on what the house forbids: imports upwards, circles, a picture of another house.

    kkt <- orderings <- analysis <- papers; none of them imports the facade, tests or docs.  No room
    of kkt, and no order, imports a room of OPTIONAL, which may import each other.
    """
    for module, path in sources().items():
        package = module.partition(".")[0]
        later = {*PACKAGES[PACKAGES.index(package) + 1 :], "pivotree", "tests", "docs", "benchmarks"}
        for name in sorted(imports(path)):
            if name.partition(".")[0] in later:
                yield f"{path.relative_to(ROOT)} imports {name}, which stands above it"
            heart = package == "orderings" or (package == "kkt" and room_of(module) not in ("kkt", *OPTIONAL))
            if heart and room_of(name) in OPTIONAL:
                yield f"{path.relative_to(ROOT)} imports {name}, which is optional"
    for kind, named in (("modules", str), ("rooms", folder_of)):
        for circle in nx.strongly_connected_components(house(named)):
            if len(circle) > 1:
                yield f"imports of {kind} close a circle: {', '.join(sorted(circle))}"
    picture = ROOT / "docs/architecture.svg"
    if not picture.exists() or picture.read_text(encoding="utf-8") != drawn(house()):
        yield "docs/architecture.svg is of another house: run python docs/architecture.py"


def floors(graph: nx.DiGraph) -> list[list[str]]:
    """Rooms by the longest way down; circles stand on one floor, beside each other."""
    whole = nx.condensation(graph)
    level: dict[int, int] = {}
    for part in reversed(list(nx.topological_sort(whole))):
        level[part] = 1 + max((level[below] for below in whole.successors(part)), default=-1)
    made: list[list[str]] = [[] for _ in range(1 + max(level.values()))]
    for part, floor in level.items():
        made[floor] += sorted(whole.nodes[part]["members"])
    place: dict[str, float] = {}
    for rooms in made:  # each room above the middle of those that it stands on
        below = {room: [place[o] for o in graph.successors(room) if o in place] for room in rooms}
        middle = {room: sum(at) / len(at) if at else 0.5 for room, at in below.items()}
        rooms.sort(key=lambda room, middle=middle: (middle[room], room))
        place |= {room: (k + 0.5) / len(rooms) for k, room in enumerate(rooms)}
    return made


def drawn(graph: nx.DiGraph) -> str:
    """The house as SVG, the ground floor at the bottom."""
    storeys = floors(graph)
    across = max(map(len, storeys)) * (WIDTH + GAP) + GAP
    down = len(storeys) * FLOOR
    at: dict[str, tuple[float, float]] = {}
    for floor, rooms in enumerate(storeys):
        left = (across - len(rooms) * (WIDTH + GAP) + GAP) / 2
        for k, room in enumerate(rooms):
            at[room] = (left + k * (WIDTH + GAP), down - (floor + 1) * FLOOR + FLOOR - HEIGHT - 10)
    shown = nx.transitive_reduction(graph) if nx.is_directed_acyclic_graph(graph) else graph
    arrows = [
        f'<path d="M{at[a][0] + WIDTH / 2:.0f} {at[a][1] + HEIGHT:.0f}'
        f"C{at[a][0] + WIDTH / 2:.0f} {at[a][1] + HEIGHT + 26:.0f} "
        f"{at[b][0] + WIDTH / 2:.0f} {at[b][1] - 30:.0f} "
        f'{at[b][0] + WIDTH / 2:.0f} {at[b][1] - 5:.0f}"/>'
        for a, b in sorted(shown.edges)
    ]
    rooms = [
        f'<g class="{room.partition("/")[0]}"><rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" '
        f'height="{HEIGHT}"/><text x="{x + WIDTH / 2:.0f}" y="{y + 22:.0f}">{room}</text></g>'
        for room, (x, y) in sorted(at.items())
    ]
    tip = (
        '<marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z"/></marker>'
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" '
            f'width="{across}" height="{down}" role="img" aria-label="Rooms and imports">',
            f"<style>{STYLE}\n</style><defs>{tip}</defs>",
            *arrows,
            *rooms,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit("\n".join(faults()) or None)
    (ROOT / "docs/architecture.svg").write_text(drawn(house()), encoding="utf-8")
