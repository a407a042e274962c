"""One call, done properly: the layers of the call path."""
