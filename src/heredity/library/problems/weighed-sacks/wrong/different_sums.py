class Solution:
    def selections(self, sacks, low, high):
        sums = {0}
        for sack in sacks:
            sums |= {total + sack for total in sums if total + sack <= high} if len(sums) < 200_000 else set()
        return sum(low <= total <= high for total in sums)
