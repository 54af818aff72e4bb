"""Read model of a suite: the data of pages in SQLite, derived from the journals and updated from byte offsets."""
