"""Programming problems: signatures, their wire format, starters and harnesses in several languages, problem folders."""
