"""Talking to OpenAI-compatible model endpoints."""
