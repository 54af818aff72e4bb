class Solution:
    def firstHuts(self, heights):
        # Height and start in one number, so that the greater number is the better stretch.
        count = len(heights)
        keys = [(height + 10**9 << 15) + 32767 for height in heights]
        keys.append(-1)
        best, stack = [-1] * (count + 1), []
        starts = []
        for place, key in enumerate(keys):
            start = place
            while stack and stack[-1] >= key:
                one, start = stack.pop(), starts.pop()
                if one - start > best[place - start]:
                    best[place - start] = one - start
            stack.append(key)
            starts.append(start)
        now, out = -1, [0] * count
        for length in range(count, 0, -1):
            if best[length] > now:
                now = best[length]
            out[length - 1] = 32767 - (now & 32767)
        return out
