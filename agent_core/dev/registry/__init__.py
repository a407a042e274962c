"""Development registry: speaks the part of Consul's HTTP API that the mesh uses, in memory, on loopback."""
