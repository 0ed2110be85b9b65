"""What a tenant's own systems are told of its notifications."""
