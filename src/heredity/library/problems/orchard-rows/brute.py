class Solution:
    def treesInside(self, fence):
        sides = list(zip(fence, fence[1:] + fence[:1]))
        xs, ys = [x for x, _ in fence], [y for _, y in fence]
        found = 0
        for x in range(min(xs), max(xs) + 1):
            for y in range(min(ys), max(ys) + 1):
                inside = False
                for (a, b), (c, d) in sides:
                    cross = (c - a) * (y - b) - (d - b) * (x - a)
                    if cross == 0 and min(a, c) <= x <= max(a, c) and min(b, d) <= y <= max(b, d):
                        break
                    if (b > y) != (d > y) and (cross > 0) == (d > b):
                        inside = not inside
                else:
                    found += inside
        return found
