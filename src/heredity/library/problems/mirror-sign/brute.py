class Solution:
    def repaint(self, sign):
        ring = "abcdefghijklmnopqrstuvwxyz"
        total = 0
        for place in range(len(sign) // 2):
            first, last = ring.index(sign[place]), ring.index(sign[-1 - place])
            # Both may be painted: the letter they end as is tried.
            total += min(
                min((first - goal) % 26, (goal - first) % 26) + min((last - goal) % 26, (goal - last) % 26)
                for goal in range(26)
            )
        return total
