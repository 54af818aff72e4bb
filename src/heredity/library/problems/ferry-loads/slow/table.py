class Solution:
    def smallestFerry(self, carts, trips):
        sums = [0]
        for cart in carts:
            sums.append(sums[-1] + cart)
        best = sums[1:]
        for _ in range(min(trips, len(carts)) - 1):
            best = [
                min([best[end]] + [max(best[start], sums[end + 1] - sums[start + 1]) for start in range(end)])
                for end in range(len(carts))
            ]
        return best[-1]
