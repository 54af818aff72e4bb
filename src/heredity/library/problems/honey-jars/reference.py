class Solution:
    def pairs(self, jars, low, high):
        jars.sort()

        def up_to(limit):
            total, right = 0, len(jars) - 1
            for left, jar in enumerate(jars):
                while right >= 0 and jar + jars[right] > limit:
                    right -= 1
                if right <= left:
                    break
                total += right - left
            # Beyond that point all partners lie to the left, and are counted.
            return total

        return up_to(high) - up_to(low - 1)
