"""The hooded ball: a memory game of masked guests with a hidden rule for pairs."""
