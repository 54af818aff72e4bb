"""How numbers are written; moved to `heredity.results.text`."""

from heredity.results.text import *  # noqa: F403
from heredity.results.text import DASH, MINUS, THIN_SPACE  # noqa: F401
