"""Grip on ice: slide over a frozen lake to a shelter, past grit, mirror ice and the wardens' flags."""
