class Solution:
    def takings(self, places, stalls):
        # The sum and the number of stalls in one number: sums are multiples of 2^14, the number is below.
        def best(fee):
            free, taken = 0, -(1 << 80)
            for value in places:
                one = free + (value - fee << 14) + 1
                if taken > free:
                    free = taken
                taken = one
            return max(free, taken)

        low, high = -(10**9) * (len(places) + 2), 10**9 + 1
        while high - low > 1:
            fee = (low + high) // 2
            if best(fee) & 16383 >= stalls:
                low = fee
            else:
                high = fee
        return (best(low) >> 14) + low * stalls
