class Solution:
    def ledger(self, levels):
        count = len(levels)

        def tops(sign):
            # From the lowest up, days leave a chain; its neighbours are higher then.
            before, after = list(range(-1, count - 1)), list(range(1, count + 1))
            total = 0
            for place in sorted(range(count), key=lambda day: (sign * levels[day], day)):
                a, b = before[place], after[place]
                if a >= 0:
                    after[a] = b
                if b < count:
                    before[b] = a
                left, right = place - a, b - place
                total += sign * levels[place] * (left * right * (left + right) // 2)
            return total

        return tops(1) + tops(-1)
