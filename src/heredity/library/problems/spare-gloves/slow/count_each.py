class Solution:
    def spareGloves(self, tags):
        return sorted(tag for tag in set(tags) if tags.count(tag) % 2)
