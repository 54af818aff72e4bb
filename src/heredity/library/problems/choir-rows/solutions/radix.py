class Solution:
    def lineUp(self, names, heights):
        line = sorted(zip(names, heights))
        for shift in (0, 10, 20):
            piles = [[] for _ in range(1024)]
            for singer in line:
                piles[singer[1] >> shift & 1023].append(singer)
            line = [singer for pile in reversed(piles) for singer in pile]
        row = [name for name, _ in line]
        return row[1::2][::-1] + row[::2]
