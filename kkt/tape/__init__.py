"""The program as scalar operations, and the one place that plays them in a number format."""
