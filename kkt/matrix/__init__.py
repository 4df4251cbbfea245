"""Equation (4) in one state: blocks, state, bias, entries, frames."""
