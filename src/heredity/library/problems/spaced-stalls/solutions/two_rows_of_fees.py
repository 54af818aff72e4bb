from itertools import accumulate


class Solution:
    def takings(self, places, stalls):
        def step(pair, value):
            free, taken = pair
            return (taken if taken > free else free), free + value

        def best(fee):
            # 2^14 apart, the lowest bits count the stalls.
            shifted = ((value - fee << 14) + 1 for value in places)
            for pair in accumulate(shifted, step, initial=(0, -(1 << 90))):
                pass
            return max(pair)

        low, high = -(10**9) * 10_002, 10**9
        while low < high:
            fee = (low + high + 1) // 2
            if best(fee) % 16384 >= stalls:
                low = fee
            else:
                high = fee - 1
        return (best(low) >> 14) + low * stalls
