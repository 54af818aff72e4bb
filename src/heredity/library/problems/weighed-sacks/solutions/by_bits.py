from bisect import bisect_left, bisect_right


class Solution:
    def selections(self, sacks, low, high):
        def sums(part):
            table = [0] * (1 << len(part))
            for chosen in range(1, len(table)):
                lowest = chosen & -chosen
                table[chosen] = table[chosen ^ lowest] + part[lowest.bit_length() - 1]
            return table

        half = len(sacks) // 2
        right = sorted(sums(sacks[half:]))
        count = 0
        for total in sums(sacks[:half]):
            if total <= high:
                count += bisect_right(right, high - total) - bisect_left(right, low - total)
        return count
