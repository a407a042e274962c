"""The clock skill service."""
