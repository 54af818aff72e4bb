class Solution:
    def pairs(self, signals, limit):
        bits = [bit for bit in range(17) if limit >> bit & 1]
        total = 0
        for bit in bits:
            seen = [0] * (1 << 17)
            partner = limit >> bit ^ 1
            for signal in signals:
                value = signal >> bit
                total += seen[value ^ partner]
                seen[value] += 1
        return total
