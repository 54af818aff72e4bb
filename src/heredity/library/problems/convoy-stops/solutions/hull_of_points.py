class Solution:
    def leastTrouble(self, crates, ideal):
        # Points (s, best + s²) and a tangent whose slope grows: the lower hull, walked from left to right.
        xs, ys, head, weight, best = [ideal], [ideal * ideal], 0, 0, 0
        for crate in crates:
            weight += crate
            slope = 2 * weight
            while head + 1 < len(xs) and ys[head + 1] - ys[head] <= slope * (xs[head + 1] - xs[head]):
                head += 1
            best = ys[head] - slope * xs[head] + weight * weight
            x = weight + ideal
            y = best + x * x
            while len(xs) > head + 1 and (ys[-1] - ys[-2]) * (x - xs[-1]) >= (y - ys[-1]) * (xs[-1] - xs[-2]):
                xs.pop()
                ys.pop()
            xs.append(x)
            ys.append(y)
        return best
