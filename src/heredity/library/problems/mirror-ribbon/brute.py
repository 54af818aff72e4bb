class Solution:
    def mirrored(self, ribbon, least):
        count = len(ribbon)
        pieces = [ribbon[i:j] for i in range(count) for j in range(i + least, count + 1)]
        return sum(piece == piece[::-1] for piece in pieces)
