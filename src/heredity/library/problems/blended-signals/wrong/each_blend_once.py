class Solution:
    def blends(self, signals):
        seen, ends = set(), set()
        for signal in signals:
            ends = {end | signal for end in ends} | {signal}
            seen |= ends
        return sum(seen)
