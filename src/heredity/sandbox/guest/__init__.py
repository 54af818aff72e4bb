"""Code that runs next to untrusted programs: standard library and numpy only, without importing `heredity`.

`zygote.py` is started by its path in an isolated interpreter; it imports the other modules of this folder as
top-level modules, forks one confined worker per episode (or per lock-step batch), and holds nothing secret. The host
imports `codec.py` and `frames.py` from here too, so that both ends of the wire are one piece of code.
"""
