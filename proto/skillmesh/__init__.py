"""The contract between the agent core and skill services; it knows neither side."""

__version__ = "0.1.0"
