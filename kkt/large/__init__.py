"""ABM for trees of a million bodies: one bracket per kind of body, as machine code in a loop."""
