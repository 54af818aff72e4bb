class Solution:
    def stillLit(self, lamps):
        def largest(times):
            low, high = 0, 10**6
            while low < high:
                middle = (low + high + 1) // 2
                if times * middle * middle <= lamps:
                    low = middle
                else:
                    high = middle - 1
            return low

        return largest(1) + largest(2)
