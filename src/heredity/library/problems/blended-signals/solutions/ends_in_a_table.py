class Solution:
    def blends(self, signals):
        total, ends = 0, {}
        for signal in signals:
            new = {signal: 1}
            for end, count in ends.items():
                end |= signal
                new[end] = new.get(end, 0) + count
            ends = new
            for end, count in ends.items():
                total += end * count
        return total
