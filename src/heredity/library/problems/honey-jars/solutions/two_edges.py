class Solution:
    def pairs(self, jars, low, high):
        jars.sort()
        count = len(jars)
        above, below, total = count, count, 0
        for place, jar in enumerate(jars):
            while above and jars[above - 1] + jar > high:
                above -= 1
            while below and jars[below - 1] + jar >= low:
                below -= 1
            total += above - below
            if below <= place < above:
                total -= 1
        return total // 2
