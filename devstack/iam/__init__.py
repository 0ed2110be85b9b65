"""Who may do what of the local AWS, as template.yaml says it."""
