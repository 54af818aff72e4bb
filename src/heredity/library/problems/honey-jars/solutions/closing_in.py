class Solution:
    def pairs(self, jars, low, high):
        jars.sort()

        def below(limit):
            left, right, total = 0, len(jars) - 1, 0
            while left < right:
                if jars[left] + jars[right] < limit:
                    total += right - left
                    left += 1
                else:
                    right -= 1
            return total

        return below(high + 1) - below(low)
