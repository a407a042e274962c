"""The loop: question, turns, answer."""
