"""The stand-in model: an OpenAI-compatible server without weights, for use without a key and for tests."""
