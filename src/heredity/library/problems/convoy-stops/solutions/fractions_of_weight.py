from fractions import Fraction


class Solution:
    def leastTrouble(self, crates, ideal):
        lines, head, weight, best = [(Fraction(0), ideal, ideal * ideal)], 0, 0, 0
        for crate in crates:
            weight += crate
            while head + 1 < len(lines) and lines[head + 1][0] <= weight:
                head += 1
            _, s, b = lines[head]
            best = (weight - s) ** 2 + b - s * s
            s = weight + ideal
            b = best + s * s
            while True:
                since, r, t = lines[-1]
                meets = Fraction(b - t, 2 * (s - r))
                if meets > since or len(lines) - head < 2:
                    break
                lines.pop()
            lines.append((meets, s, b))
        return best
