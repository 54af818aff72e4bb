"""Read by every Python of a verifier: puts the working folder and the script's folder behind Python's module path.

Otherwise a verifier would import a file `json.py` left by the agent in the working folder. Standard library only.
"""

import contextlib
import os
import sys


def _last_places() -> list[str]:
    words = [word for word in sys.orig_argv[1:] if not word.startswith("-")]
    script = [os.path.dirname(os.path.abspath(words[0]))] if words and os.path.isfile(words[0]) else []
    return [*script, *filter(None, os.environ.get("HEREDITY_PYTHONPATH", "").split(":")), os.getcwd()]


# Before Python 3.10, or in a deleted folder, there is nothing to add.
with contextlib.suppress(AttributeError, OSError):
    sys.path += [path for path in _last_places() if path not in sys.path]
