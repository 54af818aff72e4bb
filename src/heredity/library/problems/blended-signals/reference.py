class Solution:
    def blends(self, signals):
        total = 0
        for lamp in range(30):
            last = 0
            for place, signal in enumerate(signals, 1):
                if signal >> lamp & 1:
                    last = place
                total += last << lamp
        return total
