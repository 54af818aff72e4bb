"""A toy workshop: fetch parts from the rooms of a house, put carts together at a bench, and sell them to order."""
