"""The symbolic factor: fill, elimination tree, counts. No values."""
