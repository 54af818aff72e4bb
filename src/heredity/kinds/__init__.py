"""One folder for each kind of task: format, loaders, runner, guest code, checks, commands."""
