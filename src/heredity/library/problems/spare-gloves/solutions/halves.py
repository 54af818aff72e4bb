class Solution:
    def spareGloves(self, tags):
        def odd(low, high):
            if high - low == 1:
                return {tags[low]}
            middle = (low + high) // 2
            return odd(low, middle) ^ odd(middle, high)

        return sorted(odd(0, len(tags)))
