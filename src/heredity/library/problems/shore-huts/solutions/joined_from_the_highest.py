from itertools import groupby


class Solution:
    def firstHuts(self, heights):
        count = len(heights)
        end, begin = [0] * (count + 1), [0] * (count + 2)
        # end[i]: where a flooded-free stretch that begins at i ends; begin: the other way round.
        out, done = [0] * (count + 1), 0
        there = [False] * (count + 2)
        order = sorted(range(count), key=lambda place: -heights[place])
        for _, group in groupby(order, key=lambda place: heights[place]):
            longest = []
            for place in group:
                there[place] = True
                start = begin[place] if place and there[place - 1] else place
                stop = end[place + 1] if there[place + 1] else place + 1
                end[start], begin[stop] = stop, start
                if stop - start > done:
                    longest.append((stop - start, start))
            if not longest:
                continue
            longest.sort(key=lambda one: (-one[0], one[1]))
            first, top = count, longest[0][0]
            rest = 0
            for length in range(top, done, -1):
                while rest < len(longest) and longest[rest][0] >= length:
                    first = min(first, longest[rest][1])
                    rest += 1
                out[length] = first
            done = top
        return out[1:]
