"""The hooded ball: a memory game of masked guests in which what belongs together has to be found out."""
