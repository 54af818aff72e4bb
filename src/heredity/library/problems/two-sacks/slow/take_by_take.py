class Solution:
    def firstWins(self, sacks):
        out = []
        for a, b in sacks:
            a, b = max(a, b), min(a, b)
            way = []
            while b:
                left, takes = a, 0
                while left >= b:
                    left -= b
                    takes += 1
                way.append((takes, left))
                a, b = b, left
            wins = True
            for takes, left in reversed(way):
                wins = takes > 1 or (left > 0 and not wins)
            out.append(wins)
        return out
