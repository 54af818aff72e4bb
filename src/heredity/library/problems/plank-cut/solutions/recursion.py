class Solution:
    def saw(self, weights):
        whole = sum(weights)

        def walk(low, high, before):
            # The best of the cuts behind low to high - 1, and the sum of their pieces.
            if high - low == 1:
                left = before + weights[low]
                return (abs(whole - 2 * left), low + 1), weights[low]
            middle = (low + high) // 2
            one, sum_one = walk(low, middle, before)
            other, sum_other = walk(middle, high, before + sum_one)
            return min(one, other), sum_one + sum_other

        return walk(0, len(weights) - 1, 0)[0][1]
