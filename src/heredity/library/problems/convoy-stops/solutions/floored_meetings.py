class Solution:
    def leastTrouble(self, crates, ideal):
        lines, weight, best, head = [(0, 0, 0)], 0, 0, 0
        # Relative to the ideal's square, a start at s is worth a[s] - 2 s x; from when on is kept as a whole number.
        for crate in crates:
            weight += crate
            x = weight - ideal
            while head + 1 < len(lines) and lines[head + 1][0] <= x:
                head += 1
            _, s, a = lines[head]
            best = a - 2 * s * x + x * x
            a = best + weight * weight
            while len(lines) > head + 1:
                since, s, b = lines[-1]
                if (a - b + 2 * (weight - s) - 1) // (2 * (weight - s)) > since:
                    break
                lines.pop()
            _, s, b = lines[-1]
            lines.append(((a - b + 2 * (weight - s) - 1) // (2 * (weight - s)), weight, a))
        return best
