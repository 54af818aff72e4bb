"""Parcel rounds: a van with little room brings addressed and stamped parcels to four depots within a working day."""
