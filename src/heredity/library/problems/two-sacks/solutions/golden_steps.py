class Solution:
    def firstWins(self, sacks):
        # Two neighbouring steps whose ratio is nearer to the golden one than any pair of such numbers can tell.
        below, above = 1, 1
        while above < 10**40:
            below, above = above, below + above
        return [max(pair) * below > min(pair) * above for pair in sacks]
