"""What each command understands: one function a command, and nothing heavy."""

from __future__ import annotations

import argparse
from typing import Any

from .examples import BLAME_FORMATS_HELP, FAMILIES_HELP, FORMATS_HELP, ORDER_HELP
from .model_arguments import add_model, add_refinement

Commands = Any  # what takes the commands; argparse has no public name for it


def _compare(commands: Commands) -> None:
    compare = commands.add_parser(
        "compare", help="the main job: what each order fills in, costs and loses, with a verdict"
    )
    add_model(compare)
    compare.add_argument(
        "--orders",
        help="comma-separated: names (pivotree orders) and FILE.py:FUNCTION, your own, which is "
        "run (pivotree orders --help shows one); all registered ones if not given",
    )
    compare.add_argument(
        "--formats",
        default="float32,float64",
        metavar="F,F",
        help=f"comma-separated (float32,float64): {FORMATS_HELP}",
    )
    add_refinement(compare)
    _add_proximal(compare)
    _add_derivatives(compare)
    _add_yes(compare)
    compare.add_argument(
        "--states",
        type=int,
        metavar="N",
        help="random states instead of one: median and worst digits (--random: their seed, 0)",
    )
    compare.add_argument("--bits", action="store_true", help="also the most bits that one addition loses")
    compare.add_argument("--json", action="store_true", help="print one JSON document")
    compare.add_argument("-o", "--output", metavar="DIR", help="write figures into this folder")


def _add_derivatives(command: argparse.ArgumentParser) -> None:
    command.add_argument("--derivatives", action="store_true", help="of qdd's derivatives by q, qd and tau")


def _add_proximal(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--proximal",
        metavar="MU",
        help="rows of loops and contacts, redundant ones too, by proximal iteration from "
        "compliance MU, such as 1e-4",
    )


def _add_yes(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--yes", action="store_true", help="go on where the work would take more than a minute or 4 GB"
    )


def _solve(commands: Commands) -> None:
    solve = commands.add_parser("solve", help="joint accelerations, with their certified error")
    add_model(solve)
    solve.add_argument("--order", default="abm", metavar="A", help=f"{ORDER_HELP} (abm)")
    solve.add_argument("--format", default="float64", metavar="F", help=f"one of (float64): {FORMATS_HELP}")
    add_refinement(solve)
    _add_yes(solve)
    solve.add_argument("--certify", type=int, metavar="D", help="prove D digits of qdd and lambda")
    _add_proximal(solve)
    solve.add_argument("--json", action="store_true", help="print one JSON document")


def _spy(commands: Commands) -> None:
    spy = commands.add_parser("spy", help="draw the blocks of the matrix while it is eliminated")
    add_model(spy)
    spy.add_argument("--order", default="abm", metavar="A", help=f"{ORDER_HELP} (abm)")
    spy.add_argument("--step", type=int, help="after this many brackets (all of them if not given)")
    spy.add_argument("--dark", action="store_true", help="light on dark")
    spy.add_argument("-o", "--output", required=True, metavar="FILE", help=".png, .pdf, .svg, .tex")


def _figure(commands: Commands) -> None:
    figure = commands.add_parser("figure", help="draw a figure for a paper, of one of many kinds")
    figure.add_argument("kind", nargs="?", metavar="KIND", help="a name from --list")
    add_model(figure, needed=False)
    _add_yes(figure)
    figure.add_argument("--list", action="store_true", help="print the kinds and exit")
    figure.add_argument("--orders", metavar="A,B", help="comma-separated; the kind's own if not given")
    figure.add_argument("--step", type=int, metavar="K", help="after this many brackets")
    figure.add_argument("--format", default="float32", help="a number format (float32)")
    figure.add_argument("--width", default="double", help="single or double column (double)")
    figure.add_argument("--font", default="stix", help="stix, as journals are set, or sans (stix)")
    figure.add_argument("--title", action="store_true", help="a title inside the figure")
    looks = figure.add_mutually_exclusive_group()
    looks.add_argument("--dark", action="store_true", help="light on dark")
    looks.add_argument("--gray", action="store_true", help="for a page printed in gray")
    figure.add_argument(
        "-o", "--output", metavar="FILE", help=".pdf, .svg, .png, .pgf; some kinds .tex, .gif, .mp4"
    )


def _report(commands: Commands) -> None:
    report = commands.add_parser(
        "report", help="digits kept over many random states: one HTML page to hand on"
    )
    add_model(report, state=False)
    report.add_argument("--orders", help="comma-separated; the usual ones if not given")
    report.add_argument("--formats", help="comma-separated; from float64 to bfloat16 if not given")
    report.add_argument("--states", type=int, default=1000, help="how many (1000)")
    report.add_argument("--seed", type=int, default=0, help="of the random states (0)")
    report.add_argument("--digits", type=float, default=3.0, help="that a format must keep (3)")
    _add_derivatives(report)
    _add_yes(report)
    report.add_argument("--json", action="store_true", help="print one JSON document")
    report.add_argument("-o", "--output", metavar="DIR", help="a new folder; report-MODEL if not")


def _guarantee(commands: Commands) -> None:
    promised = commands.add_parser(
        "guarantee", help="digits that an order's pivots keep in every state, proved"
    )
    add_model(promised, state=False, loops=False)
    promised.add_argument("--orders", help="comma-separated (abm,gain_abm; with --digits abm)")
    promised.add_argument("--formats", default="float64,float32", help="comma-separated (float64,float32)")
    promised.add_argument(
        "--digits",
        type=float,
        metavar="D",
        help="choose among --formats by role: the cheapest that keep so many in every state",
    )
    promised.add_argument(
        "--by-body", action="store_true", help="with --digits: shorter formats body by body, too"
    )
    promised.add_argument(
        "--states", type=int, default=100, metavar="N", help="sampled beside the proof (100)"
    )
    promised.add_argument("--seed", type=int, default=0, metavar="S", help="of the states (0)")
    promised.add_argument(
        "--limits", metavar="JOINT=LOW:HIGH", help="of joints, instead of the model's own [rad, m]"
    )
    promised.add_argument(
        "--payload",
        metavar="BODY=KG",
        help="a point mass up to so much, or LEAST:MOST, at the body's origin (BODY@x:y:z: there)",
    )
    promised.add_argument(
        "--qd", metavar="RATE", help="largest |qd| of every joint [rad/s, m/s], or JOINT=RATE,..."
    )
    promised.add_argument(
        "--tau", metavar="EFFORT", help="largest |tau| of every joint [N m, N], or JOINT=EFFORT,..."
    )
    _add_yes(promised)
    promised.add_argument("--json", action="store_true", help="print one JSON document")


def _blame(commands: Commands) -> None:
    blame = commands.add_parser("blame", help="which operations, pivots and bodies lost the digits")
    add_model(blame)
    blame.add_argument("--order", default="crbm", metavar="A", help=f"{ORDER_HELP} (crbm)")
    blame.add_argument("--format", default="float32", metavar="F", help=f"{BLAME_FORMATS_HELP} (float32)")
    blame.add_argument(
        "--output",
        metavar="BODY",
        help="BODY or BODY[j]: a joint acceleration; with --derivatives a matrix, dq, or an entry, "
        "dq[BODY,BODY]; the worst if not given",
    )
    _add_derivatives(blame)
    _add_yes(blame)
    blame.add_argument("--top", type=int, default=10, metavar="N", help="culprits to name (10)")
    blame.add_argument("--json", action="store_true", help="print one JSON document")


def _prove(commands: Commands) -> None:
    prove = commands.add_parser("prove", help="the closed forms of the papers, proved")
    prove.add_argument("--only", metavar="NAMES", help="comma-separated; all if not given")
    prove.add_argument("--json", action="store_true", help="print one JSON document")


def _listed(commands: Commands) -> None:
    listed = commands.add_parser("list", help="the algorithm that an order is, as formulas")
    add_model(listed)
    listed.add_argument("--order", default="abm", metavar="A", help=f"{ORDER_HELP} (abm)")
    styles = listed.add_mutually_exclusive_group()
    for style, what in (
        ("latex", "a LaTeX article"),
        ("python", "a numpy script that runs"),
        ("pseudocode", "loops and assignments"),
    ):
        styles.add_argument(f"--{style}", dest="style", action="store_const", const=style, help=what)
    listed.add_argument(
        "--notation", metavar="WHOSE", help="ascher, featherstone or yamane; the usual if not given"
    )
    listed.add_argument("--derivatives", action="store_true", help="and those of qdd by q, qd and tau")
    _add_yes(listed)
    listed.add_argument("-o", "--output", metavar="FILE", help="write into this file")


def _counts(commands: Commands) -> None:
    counts = commands.add_parser(
        "counts", help="what orders cost, as polynomials in n, and where CRBM and ABM cross"
    )
    counts.add_argument("--orders", help="comma-separated; the usual ones if not given")
    counts.add_argument("--family", metavar="NAME", help=FAMILIES_HELP)
    counts.add_argument("--json", action="store_true", help="print one JSON document")


def _explore(commands: Commands) -> None:
    explore = commands.add_parser(
        "explore", help="eliminate the matrix by hand, in the browser; -o: one HTML page"
    )
    add_model(explore)
    explore.add_argument("--orders", help="comma-separated; those that suit its size if not given")
    explore.add_argument(
        "--formats",
        default="float64,float32,bfloat16,float16",
        help="whose errors are measured for every order (float64,float32,bfloat16,float16)",
    )
    explore.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="page.html, or a folder without inline code; else "
        "the page is served on this machine until Ctrl-C, with Python behind it",
    )
    explore.add_argument("--port", type=int, help="of the served page (any that is free)")
    explore.add_argument("--no-browser", action="store_true", help="print the address only")


def _simulate(commands: Commands) -> None:
    simulate = commands.add_parser(
        "simulate",
        help="what an order's rounding costs an adaptive integrator",
        description="Integrate a robot's motion, and count what each order takes.",
    )
    add_model(simulate, frames=False)
    simulate.add_argument(
        "--project",
        action="store_true",
        help="start from the nearest state that keeps the loops and contacts",
    )
    simulate.add_argument(
        "--order",
        help="comma-separated (crbm+cholesky,abm; with loops crbm,abm); a dense method for "
        "the joint-space system that the order leaves may follow: +cholesky, +lu, +gauss_jordan",
    )
    simulate.add_argument(
        "--frames",
        default="own",
        metavar="HOW",
        help="that (4) is written in (own): own, each body's, or world, along its axes for all",
    )
    simulate.add_argument("--format", default="float32", help="comma-separated (float32)")
    simulate.add_argument(
        "--integrator",
        default="cash_karp",
        metavar="I",
        help="one of (cash_karp): cash_karp (adaptive, of Numerical Recipes), midpoint "
        "(symplectic), or scipy's RK45, DOP853, Radau, BDF, LSODA",
    )
    for name, kind, default, what in (
        ("seconds", float, 10.0, "of motion [s] (10)"),
        ("eps", float, 1e-4, "accuracy of each step (0.0001)"),
        ("step", float, 0.01, "first step, of midpoint every one [s] (0.01)"),
        ("floor", float, 0.1, "size below which errors count as absolute (0.1)"),
        ("steps", int, 10_000, "steps after which a run is given up (10000)"),
        ("runs", int, 1, "from starts one roundoff apart (1)"),
        ("seed", int, 0, "of the starts (0)"),
    ):
        simulate.add_argument(f"--{name}", type=kind, default=default, metavar="X", help=what)
    simulate.add_argument(
        "--state-type", default="float64", metavar="TYPE", help="number type of the states (float64)"
    )
    simulate.add_argument(
        "--clock",
        metavar="TYPE",
        help="number type of Cash-Karp's time and step (if not given, as --state-type)",
    )
    _add_yes(simulate)
    simulate.add_argument("--json", action="store_true", help="print one JSON document")
    simulate.add_argument("-o", "--output", metavar="DIR", help="write the picture of the steps")


def _sweep(commands: Commands) -> None:
    sweep = commands.add_parser(
        "sweep", help="trees x orders x formats x states into one table; resumes where it ended"
    )
    sweep.add_argument("config", metavar="CONFIG", help="a .toml file: docs/sweep.md")
    sweep.add_argument(
        "-j", "--jobs", type=int, metavar="N", help="processes; one for each core if not given"
    )
    sweep.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster that works")
    _add_yes(sweep)
    sweep.add_argument("--json", action="store_true", help="print one JSON document")


def _export(commands: Commands) -> None:
    export = commands.add_parser("export", help="forward dynamics by an order, as portable C or CUDA")
    add_model(export, state=False)
    export.add_argument("--order", default="abm", metavar="A", help=f"{ORDER_HELP} (abm)")
    export.add_argument("--format", default="float64", metavar="F", help="float64 or float32 (float64)")
    language = export.add_mutually_exclusive_group()
    language.add_argument("--c", action="store_true", help="C99 and its header (if not given)")
    language.add_argument("--cuda", action="store_true", help="CUDA: one thread solves one state")
    outputs = (
        "of qdd, pdd, f, inertia, lambda; dqdd_dq, dqdd_dqd, dqdd_dtau, dqdd_dparameters, "
        "dqdd_dgravity, dqdd_dwrench; likewise dlambda_dq and so on (qdd)"
    )
    export.add_argument("--outputs", default="qdd", metavar="A,B", help=outputs)
    _add_yes(export)
    export.add_argument("--wrench", action="store_true", help="wrenches on bodies are an input")
    export.add_argument("--name", help="of the function; from the model and the order if not given")
    export.add_argument(
        "-o", "--output", required=True, metavar="FILE.c", help="and FILE.h beside; FILE.cu with --cuda"
    )


def _tune(commands: Commands) -> None:
    tune = commands.add_parser(
        "tune", help="the cheapest order for a robot, beside crbm and abm: operations, time, digits"
    )
    add_model(tune, state=False)
    tune.add_argument(
        "--cost", default="flops", metavar="WHAT", help="one of (flops): flops, depth, digits, time"
    )
    tune.add_argument(
        "--composites",
        default="rigid",
        metavar="HOW",
        help="composite inertias (rigid): rigid, as ten numbers, or general",
    )
    tune.add_argument("--format", default="float32", help="for digits and time (float32): float32 or float64")
    tune.add_argument("--most", type=int, default=60, metavar="N", help="orders to count (60)")
    _add_yes(tune)
    tune.add_argument("--json", action="store_true", help="print one JSON document")
    tune.add_argument("-o", "--output", metavar="FILE.json", help="write the order, for --order")


def _reproduce(commands: Commands) -> None:
    reproduce = commands.add_parser("reproduce", help="what the papers print, beside ours")
    reproduce.add_argument(
        "paper",
        metavar="PAPER",
        help="ascher1996, cloutier1995, yamane2001, pasic1999, featherstone1983, or all",
    )
    reproduce.add_argument("--item", metavar="X,Y", help="tables and figures; all if not given")
    reproduce.add_argument("--list", action="store_true", help="print the items and exit")
    reproduce.add_argument(
        "--set",
        action="append",
        metavar="NAME=VALUE",
        help="a setting of the item, as in runs=10 or ratios=0.05;0.02; may be repeated",
    )
    reproduce.add_argument("--json", action="store_true", help="print one JSON document")
    reproduce.add_argument("-o", "--output", metavar="DIR", help="write figures into this folder")


def _orders(commands: Commands) -> None:
    orders = commands.add_parser("orders", help="what orders there are, with their sources")
    orders.add_argument("--json", action="store_true", help="print one JSON document")


def _models(commands: Commands) -> None:
    models = commands.add_parser("models", help="what can be named as MODEL, beside files")
    models.add_argument("--json", action="store_true", help="print one JSON document")


COMMANDS = (
    _compare,
    _solve,
    _spy,
    _figure,
    _report,
    _guarantee,
    _blame,
    _prove,
    _listed,
    _counts,
    _explore,
    _simulate,
    _sweep,
    _export,
    _tune,
    _reproduce,
    _orders,
    _models,
)
