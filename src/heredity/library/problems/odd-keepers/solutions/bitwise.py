class Solution:
    def stillLit(self, lamps):
        def root(number):
            found = 0
            for bit in range(20, -1, -1):
                if (found | 1 << bit) ** 2 <= number:
                    found |= 1 << bit
            return found

        return root(lamps) + root(lamps >> 1)
