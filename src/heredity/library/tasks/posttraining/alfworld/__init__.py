"""`posttraining/alfworld`: chores in text households, played in ALFWorld's engine."""
