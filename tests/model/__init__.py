"""Independent models of what the service promises, written from its rules, not from its code."""
