"""What a user asks for: eliminate, refine, inverse dynamics, condition numbers, joined robots."""
