"""What is asked or told becomes a durable row before it is answered."""
