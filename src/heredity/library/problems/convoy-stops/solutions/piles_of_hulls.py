class Solution:
    def leastTrouble(self, crates, ideal):
        # Hulls of 1, 2, 4 … lines like the digits of a number; each has a finger that only moves on.
        def hull_of(lines):
            hull = []
            for s, b in lines:
                while len(hull) > 1:
                    (p, q), (r, t) = hull[-2], hull[-1]
                    if (b - t) * (r - p) > (t - q) * (s - r):
                        break
                    hull.pop()
                hull.append((s, b))
            return hull

        piles, weight, best = [[1, [(ideal, ideal * ideal)], 0]], 0, 0
        for crate in crates:
            weight += crate
            best = 1 << 90
            for pile in piles:
                _, hull, finger = pile
                while finger + 1 < len(hull):
                    (p, q), (r, t) = hull[finger], hull[finger + 1]
                    if t - 2 * weight * r > q - 2 * weight * p:
                        break
                    finger += 1
                pile[2] = finger
                best = min(best, hull[finger][1] - 2 * weight * hull[finger][0])
            best += weight * weight
            piles.append([1, [(weight + ideal, best + (weight + ideal) ** 2)], 0])
            while len(piles) > 1 and piles[-1][0] == piles[-2][0]:
                size, lines, _ = piles.pop()
                piles[-1] = [2 * size, hull_of(piles[-1][1] + lines), 0]
        return best
