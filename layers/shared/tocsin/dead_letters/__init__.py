"""What automation gave up on, and what to do about it."""
