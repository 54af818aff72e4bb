from functools import cache


class Solution:
    def quietPlates(self, low, high, base):
        @cache
        def ways(length, last, total):
            if total < 0 or total > 9 * length:
                return 0
            if length == 0:
                return 1
            return sum(ways(length - 1, d, total - d) for d in range(min(9, total) + 1) if d != last)

        def upto(number):
            text, found = str(number), 0
            for total in range(base, 9 * len(text) + 1, base):
                for length in range(1, len(text)):
                    found += sum(ways(length - 1, d, total - d) for d in range(1, 10))
                last, left = -1, total
                for place, char in enumerate(text):
                    d = int(char)
                    found += sum(ways(len(text) - place - 1, e, left - e) for e in range(place == 0, d) if e != last)
                    left -= d
                    if d == last:
                        break
                    last = d
                else:
                    found += left == 0
            return found

        return upto(high) - (upto(low - 1) if low > 1 else 0)
