class Solution:
    def leastCost(self, pay, quarrel):
        count = len(pay)
        memory = [None] * (count << count)
        whole = (1 << count) - 1

        def least(used, last, post):
            if used == whole:
                return 0
            key = used * count + last
            if memory[key] is None:
                found, left = 1 << 60, whole & ~used
                while left:
                    bit = left & -left
                    i = bit.bit_length() - 1
                    found = min(found, pay[i][post] + quarrel[last][i] + least(used | bit, i, post + 1))
                    left ^= bit
                memory[key] = found
            return memory[key]

        return min(pay[i][0] + least(1 << i, i, 1) for i in range(count))
