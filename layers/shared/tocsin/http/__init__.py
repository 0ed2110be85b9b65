"""HTTP, and nothing of the domain."""
