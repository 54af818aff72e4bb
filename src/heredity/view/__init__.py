"""Pages that are looked at while something goes on."""
