def accepts(case, expected, answer):
    lamps, wishes = case
    granted = [None, *answer]
    return (
        bool(expected) and len(answer) == lamps and all(any(granted[abs(w)] == (w > 0) for w in two) for two in wishes)
    )
