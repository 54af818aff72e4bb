class Solution:
    def winningHeaps(self, most, handfuls):
        def wins(heap):
            return any(handful <= heap and not wins(heap - handful) for handful in handfuls)

        return sum(wins(heap) for heap in range(1, most + 1))
