class Solution:
    def spareGloves(self, tags):
        def search(group, bit):
            total = 0
            for tag in group:
                total ^= tag
            if bit < 0 or len(group) % 2:
                return [total] if len(group) % 2 else []
            ones = [tag for tag in group if tag >> bit & 1]
            zeros = [tag for tag in group if not tag >> bit & 1]
            if len(ones) % 2:
                return search(zeros, -1) + search(ones, -1)
            if total == 0:
                return []
            return search(zeros, bit - 1) + search(ones, bit - 1)

        return sorted(search(tags, 40))
