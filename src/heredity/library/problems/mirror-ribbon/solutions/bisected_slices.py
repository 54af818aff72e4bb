class Solution:
    def mirrored(self, ribbon, least):
        count, back, total = len(ribbon), ribbon[::-1], 0
        for centre in range(2 * count - 1):
            left, right = centre // 2, (centre + 1) // 2
            mirror, low, high = count - 1 - left, 0, min(left + 1, count - right) + 1
            if ribbon[left] != ribbon[right]:
                continue
            while high - low > 1:
                arm = min((low + high) // 2, 2 * low + 8)
                if ribbon[right + low : right + arm] == back[mirror + low : mirror + arm]:
                    low = arm
                else:
                    high = arm
            longest = 2 * low - (left == right)
            if longest >= least:
                total += (longest - least) // 2 + 1
        return total
