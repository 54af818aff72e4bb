"""The built-in methods, one file each; `heredity.evolution.registry` finds them by name."""
