from math import gcd


class Solution:
    def treesInside(self, fence):
        xs, ys = map(list, zip(*fence))
        after_x, after_y = xs[1:] + xs[:1], ys[1:] + ys[:1]
        area = sum(map(int.__mul__, xs, after_y)) - sum(map(int.__mul__, ys, after_x))
        felled = sum(map(gcd, map(int.__sub__, after_x, xs), map(int.__sub__, after_y, ys)))
        return (abs(area) - felled) // 2 + 1
