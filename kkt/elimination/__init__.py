"""What elimination is: sequences of pivots, their symbolic factor, their program, their tape."""
