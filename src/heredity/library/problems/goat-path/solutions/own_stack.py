class Solution:
    def longest(self, heights, leap):
        width = len(heights[0])
        rocks = [height for row in heights for height in row]
        stands = [0] * len(rocks)

        def higher(rock):
            near = []
            if rock % width:
                near.append(rock - 1)
            if (rock + 1) % width:
                near.append(rock + 1)
            if rock >= width:
                near.append(rock - width)
            if rock + width < len(rocks):
                near.append(rock + width)
            return [other for other in near if 0 < rocks[other] - rocks[rock] <= leap]

        stack = list(range(len(rocks)))
        while stack:
            rock = stack[-1]
            ways = higher(rock)
            waiting = [other for other in ways if not stands[other]]
            if waiting:
                stack += waiting
            else:
                stands[rock] = 1 + max((stands[other] for other in ways), default=0)
                stack.pop()
        return max(stands)
