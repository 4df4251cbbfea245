"""Trees of up to millions of bodies."""
