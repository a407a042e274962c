"""Settings, wiring and the command line."""
