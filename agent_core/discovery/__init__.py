"""The live catalogue, from Consul."""
