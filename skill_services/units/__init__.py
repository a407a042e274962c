"""The units skill service."""
