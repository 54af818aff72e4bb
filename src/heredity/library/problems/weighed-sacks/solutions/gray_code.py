from bisect import bisect_left, bisect_right


class Solution:
    def selections(self, sacks, low, high):
        half = len(sacks) // 2

        def sums(part):
            total, taken = 0, 0
            yield 0
            for step in range(1, 1 << len(part)):
                place = (step & -step).bit_length() - 1
                taken ^= 1 << place
                total += part[place] if taken >> place & 1 else -part[place]
                yield total

        right = sorted(sums(sacks[half:]))
        return sum(bisect_right(right, high - total) - bisect_left(right, low - total) for total in sums(sacks[:half]))
