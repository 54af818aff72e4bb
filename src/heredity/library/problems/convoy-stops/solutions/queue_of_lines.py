from collections import deque


class Solution:
    def leastTrouble(self, crates, ideal):
        lines, weight, best = deque([(ideal, ideal * ideal)]), 0, 0
        for crate in crates:
            weight += crate
            while len(lines) > 1 and lines[1][1] - lines[0][1] <= 2 * weight * (lines[1][0] - lines[0][0]):
                lines.popleft()
            s, b = lines[0]
            best = weight * weight - 2 * weight * s + b
            s = weight + ideal
            b = best + s * s
            while len(lines) > 1:
                (p, q), (r, t) = lines[-2], lines[-1]
                if (b - t) * (r - p) > (t - q) * (s - r):
                    break
                lines.pop()
            lines.append((s, b))
        return best
