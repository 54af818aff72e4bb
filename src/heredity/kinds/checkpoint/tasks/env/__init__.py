"""Games that agents roll out online. This folder lies in their workspace too, as the package `env`.

What grades a checkpoint is what the agent trained with: these files themselves. So they import nothing but the standard library
and each other, except for `alfworld`, which needs the package of that name.
"""
