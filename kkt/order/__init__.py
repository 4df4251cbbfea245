"""Orders: brackets of blocks, checked against the structure of a tree."""
