class Solution:
    def leastTrouble(self, crates, ideal):
        # A wagon that begins after weight s costs best + (x - s - ideal)² at x: a line in x but for x².
        hull, head, weight, best = [(-2 * ideal, ideal * ideal)], 0, 0, 0
        for crate in crates:
            weight += crate
            while head + 1 < len(hull):
                (m, b), (n, c) = hull[head], hull[head + 1]
                if m * weight + b < n * weight + c:
                    break
                head += 1
            m, b = hull[head]
            best = m * weight + b + weight * weight
            n, c = -2 * (weight + ideal), best + (weight + ideal) ** 2
            while len(hull) - head > 1:
                (k, a), (m, b) = hull[-2], hull[-1]
                if (c - a) * (k - m) > (b - a) * (k - n):
                    break
                hull.pop()
            hull.append((n, c))
        return best
