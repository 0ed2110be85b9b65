"""One delivery, from its claim to its settlement."""
