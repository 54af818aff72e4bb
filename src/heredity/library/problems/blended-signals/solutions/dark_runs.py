class Solution:
    def blends(self, signals):
        count = len(signals)
        total = count * (count + 1) // 2 * (2**30 - 1)
        for lamp in range(30):
            bit, run = 1 << lamp, 0
            for signal in signals:
                if signal & bit:
                    total -= run * (run + 1) // 2 * bit
                    run = 0
                else:
                    run += 1
            total -= run * (run + 1) // 2 * bit
        return total
