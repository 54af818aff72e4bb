class Solution:
    def firstHuts(self, heights):
        # The lowest place of all, then those of both sides: a tree that is built place by place.
        count = len(heights)
        left, right, stack = [-1] * count, [-1] * count, []
        for place in range(count):
            last = -1
            while stack and heights[stack[-1]] > heights[place]:
                last = stack.pop()
            left[place] = last
            if stack:
                right[stack[-1]] = place
            stack.append(place)
        best = [(-(10**10), 0)] * (count + 1)
        work = [(stack[0], 0, count)]
        while work:
            place, start, stop = work.pop()
            best[stop - start] = max(best[stop - start], (heights[place], -start))
            if left[place] >= 0:
                work.append((left[place], start, place))
            if right[place] >= 0:
                work.append((right[place], place + 1, stop))
        for length in range(count - 1, 0, -1):
            best[length] = max(best[length], best[length + 1])
        return [-start for _, start in best[1:]]
