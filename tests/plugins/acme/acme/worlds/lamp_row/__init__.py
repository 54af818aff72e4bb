"""A row of lamps."""
