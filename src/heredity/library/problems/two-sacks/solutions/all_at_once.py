class Solution:
    def firstWins(self, sacks):
        out = [False] * len(sacks)
        going = [(max(pair), min(pair), place, True) for place, pair in enumerate(sacks)]
        while going:
            following = []
            for a, b, place, wins in going:
                if a >= 2 * b:
                    out[place] = wins
                elif a == b:
                    out[place] = not wins
                else:
                    following.append((b, a - b, place, not wins))
            going = following
        return out
