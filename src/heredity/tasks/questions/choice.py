"""Reading which option of a choice question a text names: `B`, `(B)`, `B.`, `Option B`, or the option's own words.

All letters are read alike, "A" too: it is no letter only where it must be the article ("A mammal"), as "I" where it is the pronoun.
Options that the text rejects ("B is wrong", "not C") are none of its answer. What leaves two is ambiguous, and the reason says so.
"""

from __future__ import annotations

import re

from heredity.tasks.questions.contract import LETTERS
from heredity.tasks.questions.extract import ambiguous, bare, correction, marked_answers

_LONGEST = 2000
_MARKUP = re.compile(r"[*_`$\\{}\"\u201c\u201d@]")
_SMALL = re.compile(r"^[(\[]?([a-j])(?![\w'’])(?P<closed>[)\].:]|\s*$)?")
_LETTER = re.compile(
    r"(?<![\w'’])(?:(?i:option|choice|answer|letter)\s+[(\[]?([A-Ja-j])(?![\w'’])[)\]]?"
    r"|\(([A-Ja-j])\)|\[([A-J])\]|([A-J])(?![\w'’])\)?)"
)
_AFTER_A = (
    "is|isn't|was|are|because|since|as|and|or|nor|but|so|then|over|not|seems?|looks?|would|could|should|might|may|must|can|can't|cannot|"
    "has|does|doesn't|rather|instead|which|while|whereas|for|with|by|due|given|also|too|here|follows|fits?|holds?|fails?|though|"
    "although|if|however|it|its|this|that|these|the|we|you|option|choice|only|both|to|through|maybe|perhaps|possibly|[A-J]"
)
_ARTICLE = re.compile(rf"\s+(?=[\w\"'])(?!(?:{_AFTER_A})\b)")
_PRONOUN = re.compile(r"\s+(?=\w)(?!(?:is|isn't|because|since|as|and|or|but|so|to|through|[A-J])\b)")

# Below, a text has each letter that is meant as one as @A, and all else in small letters.
_SEVERAL = r"@[A-J](?:(?:\s*[,/&+]\s*|\s+)(?:(?:and|or|nor)\s+)?@[A-J])*"
_WRONG = (
    r"(?:is|are|was|were|looks?|seems?|must be|would be|can be|has been)\s+(?:(?:all|both|\w+ly)\s+)?(?:not\b|wrong\b|incorrect\b|"
    r"false\b|ruled out|excluded|eliminated|impossible|out\b|too\b|no good|invalid|untrue|implausible|unlikely)"
    r"|(?:isn't|aren't|can't|cannot|does not|doesn't|do not|won't|fails?|could not|couldn't|would not|wouldn't)\b"
)
_REJECTED = re.compile(
    rf"{_SEVERAL}\s+(?:{_WRONG})|(?<!can't )(?<!cannot )(?<!not )\b(?:not(?: choose| pick| select)?|neither|reject\w*|"
    r"rul(?:e|ed|es|ing) out|eliminat\w+|exclud\w+|rather than|instead of|unlike|discard\w*|over|dismiss\w*)\s+"
    rf"{_SEVERAL}"
)
_LEADING = frozenset(
    (
        *(
            "the",
            "correct",
            "right",
            "best",
            "one",
            "is",
            "be",
            "it",
            "its",
            "it's",
            "that's",
            "must",
            "most",
            "likely",
        ),
        *("definitely", "clearly", "certainly", "probably", "simply", "just", "still", "indeed", "surely", "obviously"),
        *("therefore", "so", "thus", "hence"),
    )
)
_JOINED = re.compile(
    r"@[A-J](?:\s|[,/&+?\-\u2013]|\b(?:or|and|to|through|maybe|perhaps|possibly|probably|also|even|else|potentially|alternatively)\b)*@[A-J]"
)
_HEDGED = re.compile(r"\b(?:or|but|although|though|however)\b([^.;]*)")
_HEDGES = re.compile(r"\b(?:could|might|may|maybe|perhaps|possibly|also|equally|plausible|possible)\b")
_CONCLUDED = re.compile(
    r"\b(?:so|therefore|thus|hence|leaving|leaves|must be|choose|pick|select|go (?:with|for)|(?:choice|pick) is|conclude)\b"
    r"[\s,:]*(?:(?:it's|it|is|must be|be|only|with|for|we|i|choose|pick|select|the|with)\s+)*@([A-J])"
)


def read_choice(text: str, choices: tuple[str, ...]) -> tuple[str, str]:
    """Return the letter of the option that a text names; if that is not clear, `""` and why.

    It is read where answers stand (see `marked_answers`) unless that is taken back, else in the whole text, else in its last line.
    """
    for content in (*filter(None, [correction(text)]), *marked_answers(text)):
        letter, problem = _named(content[:_LONGEST], choices, stated=True)
        if letter or problem:
            return letter, problem
    last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    doubt = ""
    for part in (text, last) if len(text) <= _LONGEST else (last[:_LONGEST],):
        letter, problem = _named(part, choices, stated=False)
        if letter:
            return letter, ""
        doubt = doubt or problem
    return "", doubt or "the answer names no option"


def _named(content: str, choices: tuple[str, ...], *, stated: bool) -> tuple[str, str]:
    plain = _MARKUP.sub("", bare(content)).strip()
    worded = _worded(plain, choices)
    if len(worded) == 1 and _folded(plain) in map(_folded, choices):
        return worded.pop(), ""
    tokens = _tokens(plain, choices, stated=stated)
    explained = len(_listed(tokens, choices)) == 1 and tokens.startswith("@")
    named, doubt = _meant(_REJECTED.sub(" ", tokens), stated=stated, explained=explained)
    if not named or not (stated or explained) or _folded(tokens[2:]) in map(_folded, choices):
        named |= worded
    if doubt or len(named) > 1:
        return "", ambiguous(content, f"names {', '.join(sorted(named))}")
    for letter in named - set(LETTERS[: len(choices)]):
        return "", f"there is no option {letter}"
    return (named.pop() if named else ""), ""


def _meant(tokens: str, *, stated: bool, explained: bool) -> tuple[set[str], bool]:
    """Return the letters that a text without what it rejects may mean, and whether it leaves it open which one.

    Args:
        tokens: what `_tokens` gave.
        stated: whether the text stands where answers stand.
        explained: whether it begins with a letter and the words of that option, and lists no other so.
    """
    mentioned = set(re.findall(r"@([A-J])", tokens))
    places = [match.start(1) - 1 for match in _CONCLUDED.finditer(tokens)]
    if _leads(tokens) and (stated or explained):
        places = [tokens.index("@")]
    if len(mentioned) < 2 or not places:
        return mentioned, False
    chosen = tokens[places[-1] + 1]
    clauses = [match[1] for match in _HEDGED.finditer(tokens, places[-1])]
    hedged = any(_HEDGES.search(clause) and set(re.findall(r"@([A-J])", clause)) - {chosen} for clause in clauses)
    if hedged or _JOINED.match(tokens, places[-1]):
        return mentioned, True
    return {chosen}, False


def _listed(tokens: str, choices: tuple[str, ...]) -> set[str]:
    """Return the letters that a text has right before the words of their own options, as where it repeats the question."""
    return {
        letter
        for letter, choice in zip(LETTERS, choices, strict=False)
        for rest in tokens.split(f"@{letter}")[1:]
        if f"{_folded(rest[: 2 * len(choice) + 20])} ".startswith(f"{_folded(choice)} ")
    }


def _leads(tokens: str) -> bool:
    """Return whether a stated answer begins with a letter, after words such as "definitely"."""
    before, letter, _ = tokens.partition("@")
    return bool(letter) and not set(re.findall(r"[a-z']+", before)) - _LEADING


def _tokens(plain: str, choices: tuple[str, ...], *, stated: bool) -> str:
    """Return a text in small letters, with each letter that is meant as an option as @A."""
    small = _SMALL.match(plain)
    if small and (small["closed"] is not None or (stated and not _is_word(small[1].upper(), plain[small.end() :]))):
        plain = plain[: small.end()].upper() + plain[small.end() :]
    parts: list[str] = []
    end = 0
    for match in _LETTER.finditer(plain):
        named, letter = match[2] or match[3], (match[1] or match[4] or "")
        if named or not (
            letter in "AIai" and _is_word(letter.upper(), plain[match.start(match.lastindex or 0) + 1 :], len(choices))
        ):
            parts += [plain[end : match.start()].lower(), f"@{(named or letter).upper()}"]
            end = match.end()
    return "".join([*parts, plain[end:].lower()])


def _is_word(letter: str, rest: str, choices: int = len(LETTERS)) -> bool:
    """Return whether "A" is the article, or "I" the pronoun, by what follows."""
    if letter == "I":
        return choices <= LETTERS.index("I") or bool(_PRONOUN.match(rest))
    return letter == "A" and bool(_ARTICLE.match(rest))


def _worded(plain: str, choices: tuple[str, ...]) -> set[str]:
    """Return the letters of the options whose own words a text has, those within another's words aside."""
    text = _folded(plain)
    present = {letter: _folded(choice) for letter, choice in zip(LETTERS, choices, strict=False)}
    present = {letter: words for letter, words in present.items() if words and f" {words} " in f" {text} "}
    return {
        letter
        for letter, words in present.items()
        if not any(words != other and f" {words} " in f" {other} " for other in present.values())
    }


def _folded(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s.+/%-]|(?<!\d)\.|\.(?!\d)", " ", text.casefold()).split())
