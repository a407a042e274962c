"""gRPC: sending calls to skill services, and serving MeshService."""
