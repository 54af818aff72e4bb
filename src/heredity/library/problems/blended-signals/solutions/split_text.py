class Solution:
    def blends(self, signals):
        count = len(signals)
        rows = [format(signal, "030b") for signal in signals]
        total = 0
        for column in zip(*rows):
            dark = sum(len(run) * (len(run) + 1) // 2 for run in "".join(column).split("1"))
            total = 2 * total + count * (count + 1) // 2 - dark
        return total
