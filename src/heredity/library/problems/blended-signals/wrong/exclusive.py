class Solution:
    def blends(self, signals):
        total = 0
        for lamp in range(30):
            even, odd, parity = 1, 0, 0
            for signal in signals:
                parity ^= signal >> lamp & 1
                total += (even if parity else odd) << lamp
                even, odd = (even, odd + 1) if parity else (even + 1, odd)
        return total
