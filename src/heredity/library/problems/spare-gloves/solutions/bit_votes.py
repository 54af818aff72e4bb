class Solution:
    def spareGloves(self, tags):
        odd = [bit for bit in range(40) if sum(tag >> bit & 1 for tag in tags) % 2]
        chosen = [tag for tag in tags if tag >> odd[0] & 1]
        one = sum((sum(tag >> bit & 1 for tag in chosen) % 2) << bit for bit in range(40))
        other = one
        for bit in odd:
            other ^= 1 << bit
        return sorted([one, other])
