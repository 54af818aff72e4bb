class Solution:
    def payable(self, tolls, coin, least):
        count = len(tolls)
        return sum(
            sum(tolls[start:stop]) % coin == 0 for start in range(count) for stop in range(start + least, count + 1)
        )
