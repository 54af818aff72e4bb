"""Dream rooms: gather keepsakes in a dream whose doors change with the hour and the depth of sleep, and wake."""
