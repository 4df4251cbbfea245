"""Orders: brackets of blocks meet the structure of a tree."""
