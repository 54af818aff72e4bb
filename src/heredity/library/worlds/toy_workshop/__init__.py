"""A toy workshop: fetch parts from the rooms of a house, assemble carts at a bench, and sell them to order."""
