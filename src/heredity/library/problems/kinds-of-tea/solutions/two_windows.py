from collections import Counter


class Solution:
    def tastings(self, teas, low, high):
        wide, narrow = Counter(), Counter()
        a = b = total = 0
        for tea in teas:
            wide[tea] += 1
            narrow[tea] += 1
            while len(wide) > high:
                wide[teas[a]] -= 1
                if not wide[teas[a]]:
                    del wide[teas[a]]
                a += 1
            while len(narrow) >= low:
                narrow[teas[b]] -= 1
                if not narrow[teas[b]]:
                    del narrow[teas[b]]
                b += 1
            total += b - a
        return total
