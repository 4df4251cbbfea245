"""Number types that read a tape, each one its own file."""
