class Solution:
    def mirrored(self, ribbon, least):
        # The arm is halved by comparing whole slices.
        count, back, total = len(ribbon), ribbon[::-1], 0

        def same(one, other, width):
            return ribbon[one : one + width] == back[other : other + width]

        for centre in range(2 * count - 1):
            left, right = centre // 2, (centre + 1) // 2
            low, high = 0, min(left + 1, count - right)
            step = 1
            while low + step <= high and same(right + low, count - 1 - left + low, step):
                low += step
                step *= 2
            while step:
                if low + step <= high and same(right + low, count - 1 - left + low, step):
                    low += step
                step //= 2
            longest = 2 * low - (left == right)
            total += max(0, (longest - least) // 2 + 1)
        return total
