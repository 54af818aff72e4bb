"""What a refusal of a malformed file has to say: where it is, what was found there, and what to do.

The checks are of words, since that is all a reader has: a message names a file of the input, a line or a key of it; it quotes a
value or says what is there instead of one; it ends in something to do or in what was expected. A value is shortened, and what
would not be seen or would turn the line around is written as its code.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

MOST_CHARS = 1200
"""Most characters of a refusal: a value of any length is shortened."""

LACKS = ("field", "value", "remedy", "plain")
_PLACE = re.compile(
    r"^(?:step )?[\w./#:-]+: |\bline \d|\[\w+\]|\b\w+\.\d+\b|\b[a-z_]+\.[a-z_]\w+\b|\bfield\b|\bcolumn\b"
    r"|\bunknown (?:difficulty|language|tag|split|problem|method|taskset)\b",
    re.IGNORECASE,
)
_SOMETHING = (
    r"'[^']*['…;]|\[\[|\"[^\"]*\"| is [\[{]| = \S|\b\d|\b(?:None|null|nan|inf|True|False)\b",
    r"\bNo such file|\bIs a directory|\bplain file|symbolic links|\bis a link|\bno store\b|\bnested",
    r"\bunknown\b|\bnothing\b|\bdoes not match",
    r"\bin no split|\bno number of JSON|\bholds an? \w+;",
    r"\bnot (?:valid )?(?:JSON|TOML|YAML|CSV|UTF-8|a|an|what|base64)\b|\bno (?:JSON|CSV|parquet|\w+ (?:file|folder))",
    r"\bis (?:missing|empty|cut|damaged|none)\b|\b(?:has|holds) (?:no|neither|shards)\b|\b(?:was|has) changed\b|\black[s ]",
    r"\bhas \w+(?:, \w+)+;|\bdefines no \w+",
    r"\bcannot be used \(|\bcould not be used: ",
)
_VALUE = re.compile("|".join(_SOMETHING))
_TO_DO = (
    "add allow ask change check choose clear complete convert copy correct create cut declare define delete download draw expected "
    "export fetch give install keep leave list make mend merge move name open pack pass put quote raise read record remove "
    "rename repair replace restore run save say set shorten show sign split start store take train turn use write"
).replace(" ", "|")
_REMEDY = re.compile(rf"(?:[;:,.(]|\band|\bor) (?:{_TO_DO})\b|did you mean|\bknown(?: \w+)?: |\bmust\b|\bneeds?\b")


def lacking(message: str, names: Iterable[str]) -> list[str]:
    """Return what a refusal lacks of field, value and remedy, and `"plain"` where it is long or has characters that nobody sees.

    Args:
        message: the refusal.
        names: the files of the input and the keys in them.
    """
    lacks = []
    if not _PLACE.search(message) and not any(name in message for name in names):
        lacks.append("field")
    if not _VALUE.search(message):
        lacks.append("value")
    if not _REMEDY.search(message):
        lacks.append("remedy")
    if len(message) > MOST_CHARS or any(
        unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c != "\n" for c in message
    ):
        lacks.append("plain")
    return lacks
