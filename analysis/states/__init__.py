"""Many states of one robot: drawn at random, and the answers of orders and formats there."""
