"""The commands, one module for each or for each group of them."""
