"""The demon's door: sort hot from cold particles at a leaking door between two chambers."""
