"""Equations of the slides, RNEA and (I) to (VI): each proved from the engine's own elimination."""

from ..proved import equations

measure = equations("Johnson & Su")
