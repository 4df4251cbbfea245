"""Equations (1) to (11), sections 2 and 3: each proved from the engine's own elimination."""

from ..proved import equations

measure = equations("Ascher, Pai & Cloutier 1996")
