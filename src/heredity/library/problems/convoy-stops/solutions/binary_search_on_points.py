class Solution:
    def leastTrouble(self, crates, ideal):
        xs, ys, weight, best = [ideal], [ideal * ideal], 0, 0
        for crate in crates:
            weight += crate
            low, high = 0, len(xs) - 1
            while low < high:
                middle = (low + high) // 2
                if ys[middle + 1] - ys[middle] < 2 * weight * (xs[middle + 1] - xs[middle]):
                    low = middle + 1
                else:
                    high = middle
            best = weight * weight - 2 * weight * xs[low] + ys[low]
            x, y = weight + ideal, best + (weight + ideal) ** 2
            while len(xs) > 1 and (ys[-1] - ys[-2]) * (x - xs[-1]) >= (y - ys[-1]) * (xs[-1] - xs[-2]):
                del xs[-1], ys[-1]
            xs.append(x)
            ys.append(y)
        return best
