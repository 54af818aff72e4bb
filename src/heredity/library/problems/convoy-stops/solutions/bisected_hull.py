from bisect import bisect_left


class Solution:
    def leastTrouble(self, crates, ideal):
        # starts[i]: the first weight at which line i is better than those before.
        lines, starts, weight, best = [(ideal, ideal * ideal)], [0], 0, 0
        for crate in crates:
            weight += crate
            s, b = lines[bisect_left(starts, weight + 1) - 1]
            best = weight * weight - 2 * weight * s + b
            s = weight + ideal
            b = best + s * s
            while lines:
                r, t = lines[-1]
                start = -(-(b - t) // (2 * (s - r)))
                if start > starts[-1]:
                    break
                lines.pop()
                starts.pop()
            lines.append((s, b))
            starts.append(start)
        return best
