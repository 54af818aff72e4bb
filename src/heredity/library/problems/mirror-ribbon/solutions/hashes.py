class Solution:
    def mirrored(self, ribbon, least):
        prime, base, count = (1 << 61) - 1, 911_382_323, len(ribbon)
        power, front, back = [1], [0], [0]
        for one, other in zip(ribbon, reversed(ribbon)):
            power.append(power[-1] * base % prime)
            front.append((front[-1] * base + ord(one)) % prime)
            back.append((back[-1] * base + ord(other)) % prime)
        total = 0
        for centre in range(2 * count - 1):
            left, right = centre // 2, (centre + 1) // 2
            low, high, mirror = 0, min(left + 1, count - right) + 1, count - 1 - left
            while high - low > 1:
                arm = (low + high) // 2
                one = (front[right + arm] - front[right] * power[arm]) % prime
                other = (back[mirror + arm] - back[mirror] * power[arm]) % prime
                if one == other:
                    low = arm
                else:
                    high = arm
            longest = 2 * low - (left == right)
            if longest >= least:
                total += (longest - least) // 2 + 1
        return total
