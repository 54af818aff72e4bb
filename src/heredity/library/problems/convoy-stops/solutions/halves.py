class Solution:
    def leastTrouble(self, crates, ideal):
        count, sums = len(crates), [0]
        for crate in crates:
            sums.append(sums[-1] + crate)
        best = [0] + [1 << 90] * count

        def solve(low, high):
            if high - low < 2:
                return
            middle = (low + high) // 2
            solve(low, middle)
            # Lines of the left half, asked by the right half in ascending order.
            hull = []
            for i in range(low, middle):
                m, b = sums[i] + ideal, best[i] + (sums[i] + ideal) ** 2
                while len(hull) > 1:
                    (p, q), (r, t) = hull[-2], hull[-1]
                    if (b - t) * (r - p) > (t - q) * (m - r):
                        break
                    hull.pop()
                hull.append((m, b))
            head = 0
            for j in range(middle, high):
                x = sums[j]
                value = hull[head][1] - 2 * x * hull[head][0]
                while head + 1 < len(hull):
                    one = hull[head + 1][1] - 2 * x * hull[head + 1][0]
                    if one > value:
                        break
                    head, value = head + 1, one
                if value + x * x < best[j]:
                    best[j] = value + x * x
            solve(middle, high)

        solve(0, count + 1)
        return best[count]
