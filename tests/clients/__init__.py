"""The clients in other people's programs, a folder for each language."""
