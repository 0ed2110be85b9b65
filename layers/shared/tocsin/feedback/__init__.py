"""What providers and readers say afterwards."""
