class Solution:
    def ledger(self, levels):
        def tops(sign):
            top, total = (float("inf"), -1, None), 0
            for place, level in enumerate([*levels, None]):
                value = float("inf") if level is None else sign * level
                while top[2] and top[0] <= value:
                    left, right = top[1] - top[2][1], place - top[1]
                    total += top[0] * (left * right * (left + right) // 2)
                    top = top[2]
                top = (value, place, top)
            return total

        return tops(1) + tops(-1)
