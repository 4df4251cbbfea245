"""Functions that users call: eliminate, derivatives, factor, refine, inverse dynamics, conditioning."""
