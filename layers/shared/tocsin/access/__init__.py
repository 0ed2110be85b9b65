"""Who may do what, how much, and the record of it."""
