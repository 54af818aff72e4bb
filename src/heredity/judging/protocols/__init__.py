"""Protocols: the rules by which runs are judged, one module each."""
