class Solution:
    def pairs(self, jars, low, high):
        # Partners between bounds, all asked at once: bounds and jars are sorted together.
        events = []
        for jar in jars:
            events += [(low - jar, 0, -1), (high - jar, 2, 1), (jar, 1, 0)]
        events.sort()
        seen = total = 0
        for _, kind, sign in events:
            if kind == 1:
                seen += 1
            else:
                total += sign * seen
        return (total - sum(low <= 2 * jar <= high for jar in jars)) // 2
