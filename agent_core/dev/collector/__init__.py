"""Development span collector: OTLP over HTTP on loopback, in memory, bounded; the trace tree made of it."""
