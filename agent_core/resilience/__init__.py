"""Blame on two planes: instances that cannot be reached, skills that fail everywhere; and a bound on retries."""
