"""Equations (2) to (20): each proved in letters, two misprints of (20) among them."""

from ..proved import equations

measure = equations("Pasic, Williams & Hui 1999")
