"""The system skill service."""
