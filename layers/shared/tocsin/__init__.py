"""Tocsin: the house behind the doors in functions/."""
