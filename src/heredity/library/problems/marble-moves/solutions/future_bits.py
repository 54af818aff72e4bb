class Solution:
    def winningHeaps(self, most, handfuls):
        moves = 0
        for handful in handfuls:
            moves |= 1 << handful
        reached, count = 0, 0
        for _ in range(most + 1):
            if reached & 1:
                count += 1
            else:
                reached |= moves
            reached >>= 1
        return count
