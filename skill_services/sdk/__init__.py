"""All that a skill author imports."""
