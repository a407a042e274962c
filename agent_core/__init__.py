"""The agent core: runs the LLM loop, finds skills and calls them."""
