class Solution:
    def winningHeaps(self, most, handfuls):
        values = [0]
        for heap in range(1, most + 1):
            reach = {values[heap - handful] for handful in handfuls if handful <= heap}
            value = 0
            while value in reach:
                value += 1
            values.append(value)
        return sum(value > 0 for value in values)
