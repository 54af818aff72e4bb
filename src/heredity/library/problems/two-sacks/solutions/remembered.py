class Solution:
    def firstWins(self, sacks):
        known = {}

        def wins(a, b):
            if (a, b) not in known:
                if a < b:
                    known[a, b] = wins(b, a)
                elif a == b:
                    known[a, b] = False
                else:
                    known[a, b] = a >= 2 * b or not wins(a - b, b)
            return known[a, b]

        return [wins(a, b) for a, b in sacks]
