class Solution:
    def leastTrouble(self, crates, ideal):
        hull, head, weight, best = [(-2 * ideal, ideal * ideal)], 0, 0, 0
        start, best_at, place = 0, [(0, 0)], 0
        for crate in crates:
            weight += crate
            while start < len(best_at) - 1 and weight - best_at[start][0] > ideal:
                start += 1
            options = best_at[start : start + 40]
            best = min(b + (weight - s - ideal) ** 2 for s, b in options)
            best_at.append((weight, best))
        return best
