"""The service in SAM's own containers: `make sam-local`, for whoever has Docker."""
