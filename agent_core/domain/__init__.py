"""Words of the mesh as frozen values: skills, calls, errors, events, and the Protocols that join the rooms."""
