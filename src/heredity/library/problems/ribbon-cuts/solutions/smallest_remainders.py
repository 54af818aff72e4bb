class Solution:
    def fewestCuts(self, ribbons):
        left = set(ribbons)
        while len(left) > 1:
            least = min(left)
            left = {ribbon % least for ribbon in left}
            left.discard(0)
            left.add(least)
        piece = left.pop()
        return sum(ribbon // piece - 1 for ribbon in ribbons)
