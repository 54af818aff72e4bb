class Solution:
    def blends(self, signals):
        total = 0
        for start in range(len(signals)):
            for stop in range(start + 1, len(signals) + 1):
                blend = 0
                for signal in signals[start:stop]:
                    blend |= signal
                total += blend
        return total
