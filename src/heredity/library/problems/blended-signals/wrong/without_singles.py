class Solution:
    def blends(self, signals):
        total, ends = 0, {}
        for signal in signals:
            new = {}
            for end, count in ends.items():
                new[end | signal] = new.get(end | signal, 0) + count
            total += sum(end * count for end, count in new.items())
            new[signal] = new.get(signal, 0) + 1
            ends = new
        return total
