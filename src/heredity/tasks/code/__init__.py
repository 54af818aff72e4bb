"""Programming problems: signatures, their values on the wire, starters and harnesses in several languages, problem folders."""
