from collections import Counter


def accepts(case, expected, answer):
    _, lanes = case
    if not expected or len(answer) != len(lanes) + 1:
        return False
    walked = Counter((min(pair), max(pair)) for pair in zip(answer, answer[1:]))
    return walked == Counter((min(lane), max(lane)) for lane in lanes)
