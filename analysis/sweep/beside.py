"""Contacts and loops that an entry of a sweep's models adds to its model."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import networkx as nx

from pivotree import kkt
from pivotree.kkt.base.foreign import is_number

from ..points import contacts_of
from .fields import Fields


@dataclass(frozen=True)
class Beside:
    """``contact``, ``compliance`` and ``loops`` of an entry, as the command line has them."""

    contact: str  # BODY or BODY@x:y:z, with commas between them; empty without any
    compliance: float  # of the contacts [1/kg]
    loops: str  # a file of loops; empty without one

    @staticmethod
    def of(options: Fields) -> Beside | None:
        """What an entry says; None where it says nothing.  Raises PivotreeError."""
        contact, loops = (
            options.text(name) if name in options.table else "" for name in ("contact", "loops")
        )
        given = options.take("compliance", None)
        if given is not None and not contact:
            raise options.wrong("compliance", given, "contacts that it softens, contact = 'foot'")
        number = 0.0 if given is None else given
        if not is_number(number) or number < 0:
            raise options.wrong("compliance", given, "zero or more [1/kg]")
        return Beside(contact, float(number), loops) if contact or loops else None

    def on(self, tree: nx.DiGraph) -> nx.DiGraph:
        """The tree with these loops behind its own.  Raises ModelError."""
        found = [*tree.graph.get("loops", ())]
        if self.loops:
            found += kkt.read_loops(self.loops, tree)
        if self.contact:
            found += contacts_of(tree, self.contact, self.compliance, "contact")
        held = nx.DiGraph(tree, loops=found)
        with warnings.catch_warnings():  # random states close what is open here
            warnings.simplefilter("ignore", kkt.LoopWarning)
            kkt.build(held)  # what is wrong with them is told before the long work
        return held

    @property
    def label(self) -> str:
        """What rows add to the model's name."""
        words = [f", contact {self.contact}"] if self.contact else []
        words += [f", compliance {self.compliance:g}"] if self.compliance else []
        return "".join([*words, f", loops {self.loops}"] if self.loops else words)
