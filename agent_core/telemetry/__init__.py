"""One span helper and the instruments, over the OpenTelemetry API."""
