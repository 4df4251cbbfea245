"""The cheapest order for a robot: a search over where each joint is eliminated."""
