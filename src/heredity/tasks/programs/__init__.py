"""Programs that a scorer measures: tasks as folders, and tasksets of them."""
