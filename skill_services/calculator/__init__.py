"""The calculator skill service."""
