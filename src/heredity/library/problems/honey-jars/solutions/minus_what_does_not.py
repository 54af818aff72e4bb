class Solution:
    def pairs(self, jars, low, high):
        jars.sort()
        count = len(jars)
        total = count * (count - 1) // 2
        left, right = 0, count - 1
        while left < right:
            if jars[left] + jars[right] < low:
                total -= right - left
                left += 1
            else:
                right -= 1
        left, right = 0, count - 1
        while left < right:
            if jars[left] + jars[right] > high:
                total -= right - left
                right -= 1
            else:
                left += 1
        return total
