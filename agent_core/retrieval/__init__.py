"""Which skills the model is offered."""
