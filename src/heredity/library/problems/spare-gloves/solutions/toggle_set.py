class Solution:
    def spareGloves(self, tags):
        left = set()
        for tag in tags:
            if tag in left:
                left.remove(tag)
            else:
                left.add(tag)
        return sorted(left)
