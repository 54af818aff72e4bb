class Solution:
    def spareGloves(self, tags):
        return sorted({tag for tag in tags if tags.count(tag) % 2})
