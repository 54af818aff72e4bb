class Solution:
    def winningHeaps(self, most, handfuls):
        wins = bytearray(most + 1)
        for heap in range(most + 1):
            if not wins[heap]:
                for handful in handfuls:
                    if heap + handful <= most:
                        wins[heap + handful] = 1
        return sum(wins)
