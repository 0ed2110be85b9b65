"""Each door: an AWS event in, rows out."""
