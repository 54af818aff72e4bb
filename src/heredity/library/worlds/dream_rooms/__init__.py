"""Dream rooms: gather what was left in a dream whose doors lead elsewhere by the hour and the depth of sleep, and wake."""
