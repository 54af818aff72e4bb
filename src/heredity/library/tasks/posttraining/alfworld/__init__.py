"""`posttraining/alfworld`: chores in households of text, played in ALFWorld's own engine."""
