class Solution:
    def spareGloves(self, tags):
        left = {}
        for tag in tags:
            if left.pop(tag, None) is None:
                left[tag] = True
        return list(left)
