from math import gcd


class Solution:
    def fewestCuts(self, ribbons):
        def common(low, high):
            if high - low == 1:
                return ribbons[low]
            middle = (low + high) // 2
            return gcd(common(low, middle), common(middle, high))

        piece = common(0, len(ribbons))
        return sum(ribbons) // piece - len(ribbons)
