r"""Where in a text the final answer stands: in `\boxed{…}`, in `<answer>…</answer>`, after `Answer:` or `####`."""

from __future__ import annotations

import re

MAX_CHARS = 200_000
"""Of a longer text only the end is read."""

_MARKERS_READ = 16
_BOXED, _TAG, _TAG_END = "\\boxed", "<answer>", "</answer>"
_MARKER = re.compile(
    r"\\boxed\s*\{|<answer>|####|\b(?:answer|(?:correct|right|best) (?:option|choice))\b[ \t*_`]*(?:is\b|[:=\uff1a])[ \t*_`:]*",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^```[^\n]*\n(.*?)\n?```$", re.DOTALL)


def final_text(text: str) -> str:
    """Return what a model said at last: without its thoughts (`<think>…</think>`), and cut to `MAX_CHARS` from the end."""
    # Half a surrogate pair, which JSON can carry, is no text that could be encoded again.
    tail = text[-MAX_CHARS:].encode(errors="replace").decode()
    _, closed, after = tail.rpartition("</think>")
    return after.strip() if closed else tail.partition("<think>")[0].strip()


def marked_answers(text: str, *, to_the_end: bool = False) -> list[str]:
    """Return what stands where answers stand, the last place first.

    Args:
        text: what `final_text` gave.
        to_the_end: whether an answer after `Answer:` goes on to the end of the text, and not of its line.
    """
    places = list(_MARKER.finditer(text))[-_MARKERS_READ:]
    contents = (_content(text, match, to_the_end=to_the_end) for match in reversed(places))
    return [content for content in contents if content]


def unfenced(text: str) -> str:
    """Return a text without the code fence around it, if there is one."""
    match = _FENCE.match(text.strip())
    return match[1] if match else text.strip()


def _content(text: str, match: re.Match[str], *, to_the_end: bool) -> str:
    rest = text[match.end() :]
    if match[0].startswith(_BOXED):
        return _until_closed(rest)
    rest = rest.partition(_TAG_END)[0]
    if to_the_end or match[0].lower() == _TAG:
        return rest.strip()
    return next((stripped for line in rest.splitlines() if (stripped := line.strip(" \t*_`"))), "")


def _until_closed(text: str) -> str:
    depth = 1
    for position, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return text[:position].strip()
    return ""
