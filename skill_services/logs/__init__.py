"""The logs skill service."""
