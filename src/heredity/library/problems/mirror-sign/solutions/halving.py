class Solution:
    def repaint(self, sign):
        codes = [ord(letter) for letter in sign]
        last = len(codes) - 1

        def cost(low, high):
            if high - low == 0:
                return 0
            if high - low == 1:
                apart = abs(codes[low] - codes[last - low])
                return min(apart, 26 - apart)
            middle = (low + high) // 2
            return cost(low, middle) + cost(middle, high)

        return cost(0, len(codes) // 2)
