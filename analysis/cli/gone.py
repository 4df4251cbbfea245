"""Options and commands of earlier versions, and what is written in their place; nothing heavy."""

from __future__ import annotations

from collections.abc import Sequence

GONE = {
    "spy": "figure spy",
    "--arg": "--urdf NAME:=VALUE",
    "--package": "--urdf package:NAME=FOLDER",
    "--keep-fixed": "--urdf keep-fixed",
    "--mimic": "--urdf mimic=HOW",
    "--floating": "--urdf floating",
    "--dynamics": "--urdf dynamics",
    "--compliance": "--contact BODY,compliance=C",
    "--random": "--state random:SEED",
    "--qd": "--state qd:X,X",
    "--tau": "--state tau:X,X",
    "--residual": "--refine K:equations",
    "--dark": "--style dark",
    "--gray": "--style gray",
    "--font": "--style light,sans",
    "--latex": "--style latex",
    "--python": "--style python",
    "--pseudocode": "--style pseudocode",
    "--c": "-o FILE.c",
    "--cuda": "-o FILE.cu",
    "--step": "--integrator NAME,step=X",
    "--steps": "--integrator NAME,steps=N",
    "--floor": "--integrator NAME,floor=X",
    "--state-type": "--integrator NAME,state=T",
    "--clock": "--integrator NAME,clock=T",
    "--by-body": "pivotree check, which measures formats by role and body",
    "--digits": "pivotree check --digits D, which measures formats by role and body",
    "--quick": "--set quick",
}
# commands that have an option of this name still
KEPT = {
    "--qd": ("guarantee",),
    "--tau": ("guarantee",),
    "--step": ("figure",),
    "--digits": ("check", "report"),
}


def told(texts: Sequence[str]) -> str | None:
    """What is written in the place of the first that is gone, of a command line; None where none is."""
    command = texts[0] if texts else ""
    if command in GONE:
        return f"command {command!r} is gone; use {GONE[command]}"
    for name in (text.partition("=")[0] for text in texts):
        if name.startswith("-") and name in GONE and command not in KEPT.get(name, ()):
            return f"option {name} is gone; use {GONE[name]}"
    return None
