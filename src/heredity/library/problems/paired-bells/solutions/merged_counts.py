class Solution:
    def kthGap(self, high, low, rank):
        high.sort()
        low.sort()

        def at_most(shift):
            """Pairs with low - high at most a shift."""
            count = place = 0
            for bell in high:
                while place < len(low) and low[place] - bell <= shift:
                    place += 1
                count += place
            return count

        least, most = 0, max(high[-1] - low[0], low[-1] - high[0])
        while least < most:
            middle = (least + most) // 2
            if at_most(middle) - at_most(-middle - 1) >= rank:
                most = middle
            else:
                least = middle + 1
        return least
