"""No-infrastructure mode: registry, supervisor, span collector, stand-in model."""
