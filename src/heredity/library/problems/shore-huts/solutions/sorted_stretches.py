class Solution:
    def firstHuts(self, heights):
        count = len(heights)
        padded, stack, found = [*heights, -(10**10)], [], []
        for place, height in enumerate(padded):
            start = place
            while stack and stack[-1][0] >= height:
                lowest, start = stack.pop()
                found.append((-lowest, start, place - start))
            stack.append((height, start))
        # The driest first, then the first ones: each settles the lengths that it is the first to reach.
        found.sort()
        out, now = [0] * count, 0
        i = 0
        while now < count:
            lowest, same = found[i][0], []
            while i < len(found) and found[i][0] == lowest:
                same.append(found[i])
                i += 1
            for _, start, length in same:
                for one in range(now, length):
                    out[one] = start
                now = max(now, length)
        return out
