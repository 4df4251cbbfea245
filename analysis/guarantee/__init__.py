"""Digits that an order keeps in every state of a robot, proved: docs/guarantee.md."""
