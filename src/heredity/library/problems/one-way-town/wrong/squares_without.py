class Solution:
    def missing(self, count, streets):
        into, out = [0] * count, [0] * count
        for a, b in streets:
            if a != b:
                out[a] += 1
                into[b] += 1
        return max(into.count(0), out.count(0)) if count > 1 else 0
