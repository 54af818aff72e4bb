"""Container tasks that come with Heredity: the tasksets `tasks/shell`, `tasks/data`, `tasks/programs` and `tasks/all`."""
