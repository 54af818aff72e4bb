class Solution:
    def quietPlates(self, low, high, base):
        memory = {}

        def block(prefix_last, rest, length):
            if length == 0:
                return int(rest == 0)
            key = (prefix_last, rest, length)
            if key not in memory:
                memory[key] = sum(block(d, (rest + d) % base, length - 1) for d in range(10) if d != prefix_last)
            return memory[key]

        def count(prefix, last, rest, length):
            first = prefix * 10**length
            if first > high or first + 10**length - 1 < low:
                return 0
            if low <= first and first + 10**length - 1 <= high and prefix:
                return block(last, rest, length)
            if length == 0:
                return int(rest == 0)
            total = 0
            for d in range(10):
                if prefix == 0 and d == 0:
                    total += count(0, -1, 0, length - 1) if length > 1 else 0
                elif d != last:
                    total += count(prefix * 10 + d, d, (rest + d) % base, length - 1)
            return total

        return count(0, -1, 0, 16)
