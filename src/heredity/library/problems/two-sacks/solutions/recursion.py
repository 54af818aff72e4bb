class Solution:
    def firstWins(self, sacks):
        def wins(a, b):
            times, rest = divmod(a, b)
            if times > 1:
                return True
            return rest > 0 and not wins(b, rest)

        return [wins(max(pair), min(pair)) for pair in sacks]
