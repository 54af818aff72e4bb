class Solution:
    def slabs(self, yard):
        counts = [0, 0]
        for r, row in enumerate(yard):
            for c, field in enumerate(row):
                alone = all(
                    not (0 <= a < len(yard) and 0 <= b < len(row)) or yard[a][b] == "#"
                    for a, b in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1))
                )
                if field == "." and not alone:
                    counts[(r + c) % 2] += 1
        return min(counts)
