"""The words: templates, what is said without one, and what may stand where."""
