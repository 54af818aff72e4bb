class Solution:
    def ledger(self, levels):
        def tops(values):
            # For each end: the sum of the highest levels over all starts, and of them times their starts.
            stack, highs, starts, total = [], 0, 0, 0
            for place, value in enumerate(values):
                count, places = 1, place
                while stack and stack[-1][0] <= value:
                    level, times, at = stack.pop()
                    highs -= level * times
                    starts -= level * at
                    count += times
                    places += at
                stack.append((value, count, places))
                highs += value * count
                starts += value * places
                total += (place + 1) * highs - starts
            return total

        return tops(levels) + tops([-level for level in levels])
