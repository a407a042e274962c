"""Breakers, ejection, balancing and the retry budget."""
