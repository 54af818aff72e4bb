"""Programs measured by a scorer: tasks as folders, and tasksets of them."""
