class Solution:
    def oddChance(self, chances):
        def odd(low, high):
            if high - low == 1:
                return chances[low]
            middle = (low + high) // 2
            one, other = odd(low, middle), odd(middle, high)
            return one * (1 - other) + other * (1 - one)

        return odd(0, len(chances))
