class Solution:
    def repaint(self, sign):
        def cost(low, high):
            if low >= high:
                return 0
            apart = abs(ord(sign[low]) - ord(sign[high]))
            return min(apart, 26 - apart) + cost(low + 1, high - 1)

        return cost(0, len(sign) - 1)
