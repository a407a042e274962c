"""One module a command. Their imports stay light, so that `skillmesh --help` answers at once."""
