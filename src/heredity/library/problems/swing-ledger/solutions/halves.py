class Solution:
    def ledger(self, levels):
        def cost(low, high):
            """The spans within low to high - 1."""
            if high - low < 2:
                return 0
            middle = (low + high) // 2
            total = cost(low, middle) + cost(middle, high)
            for sign in (1, -1):
                tops, ones, sums = [], [0], [0]
                best = -(10**9)
                for place in range(middle, high):
                    best = max(best, sign * levels[place])
                    tops.append(best)
                    ones.append(ones[-1] + best)
                    sums.append(sums[-1] + best * (place - middle + 1))
                best, reach = -(10**9), 0
                for place in range(middle - 1, low - 1, -1):
                    best = max(best, sign * levels[place])
                    while reach < len(tops) and tops[reach] <= best:
                        reach += 1
                    away = middle - place
                    total += best * (reach * away + reach * (reach + 1) // 2)
                    total += sums[-1] - sums[reach] + away * (ones[-1] - ones[reach])
            return total

        return cost(0, len(levels))
