class Solution:
    def longest(self, heights, leap):
        width = len(heights[0])
        rocks = [height for row in heights for height in row]
        count, best = len(rocks), 1
        stands = [1] * count
        # Height and number in one integer, the highest first.
        for code in sorted((height << 15 | rock for rock, height in enumerate(rocks)), reverse=True):
            rock, height = code & 32767, code >> 15
            mine = stands[rock] + 1
            top = height + leap + 1
            near = [rock - width, rock + width]
            if rock % width:
                near.append(rock - 1)
            if (rock + 1) % width:
                near.append(rock + 1)
            for other in near:
                if 0 <= other < count and top - leap <= rocks[other] < top:
                    mine = max(mine, stands[other] + 2)
            stands[rock] = mine - 1
            best = max(best, mine - 1)
        return best
