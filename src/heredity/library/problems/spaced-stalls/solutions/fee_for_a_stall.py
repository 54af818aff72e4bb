class Solution:
    def takings(self, places, stalls):
        # With a fee for each stall the number is free; the fee is raised until few enough are worth it.
        def best(fee):
            free, taken = (0, 0), (-(10**18), 0)
            for value in places:
                free, taken = max(free, taken), (free[0] + value - fee, free[1] + 1)
            return max(free, taken)

        low, high = -(10**14), 10**10
        while high - low > 1:
            fee = (low + high) // 2
            if best(fee)[1] >= stalls:
                low = fee
            else:
                high = fee
        return best(low)[0] + low * stalls
