"""A robot: bodies, joints, loops, and the files, names and arrays that they come from."""
