"""Forward dynamics of trees of up to millions of bodies, without a tape of the whole tree."""
