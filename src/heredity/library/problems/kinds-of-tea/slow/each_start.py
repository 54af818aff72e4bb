class Solution:
    def tastings(self, teas, low, high):
        total = 0
        for start in range(len(teas)):
            seen = set()
            for place in range(start, len(teas)):
                seen.add(teas[place])
                if len(seen) > high:
                    break
                total += len(seen) >= low
        return total
