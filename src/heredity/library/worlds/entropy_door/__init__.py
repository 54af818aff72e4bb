"""The demon's door: sort hot from cold particles at a door between two chambers that leaks."""
