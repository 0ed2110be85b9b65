"""What happens by itself: values that producers keep, and what is to run when they change or when work has died."""
