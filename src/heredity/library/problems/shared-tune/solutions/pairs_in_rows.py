class Solution:
    def bestTune(self, first, second):
        row = [(0, -9)] * (len(second) + 1)
        for a in first:
            left = (0, -9)
            following = [left]
            for diagonal, above, b in zip(row, row[1:], second):
                ended = max(diagonal[0], diagonal[1] + 1) + 1 if a == b else -9
                left = (max(left[0], above[0], ended), ended)
                following.append(left)
            row = following
        return row[-1][0]
