"""Laser bench: bring each colour of a white lamp to its detector with mirrors and prisms."""
