"""Error messages for agents: with the agent's names of files, without paths of the host."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import heredity
from heredity.results.text import clean
from heredity.sandbox.agent_bubblewrap import INSIDE

_PLACE = re.compile(r"(?<![\w…./])/(?:[^\s/'\"]+/)+([^\s/'\":;,)]*)")


def for_agent(message: str, workspace: Path) -> str:
    """Return a message in a form safe for an agent.

    Its workspace gets the name it knows; other paths are cut to their last part; control and bidirectional characters
    are escaped.

    Args:
        message: the error message.
        workspace: the agent's workspace on the host.
    """
    own = workspace.resolve()
    hidden = (own.parent, Path(heredity.__file__).parent, Path(sys.prefix), Path(tempfile.gettempdir()), Path.home())
    text = message
    for root in dict.fromkeys(map(str, (workspace, own))):
        text = text.replace(root, INSIDE)
    for root in sorted(dict.fromkeys(map(str, hidden)), key=len, reverse=True):
        if root != "/":
            # Known roots first: there may be spaces in their names.
            text = re.sub(rf"{re.escape(root)}(?:/[^\s:;,'\"()]*)?", lambda match: f"…/{Path(match[0]).name}", text)
    return clean(_PLACE.sub(lambda match: match[0] if match[0].startswith(f"{INSIDE}/") else f"…/{match[1]}", text))
