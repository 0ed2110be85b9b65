"""Statements across tables, named by their step."""
