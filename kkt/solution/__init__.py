"""Functions that users call: eliminate, refine, inverse dynamics, conditioning, joined robots."""
