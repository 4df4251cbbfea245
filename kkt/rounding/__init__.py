"""What rounding does, operation by operation: cancellation, shares of the error, derivatives."""
