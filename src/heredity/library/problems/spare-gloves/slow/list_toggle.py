class Solution:
    def spareGloves(self, tags):
        left = []
        for tag in sorted(tags, key=lambda tag: tag * 7919 % 1000003):
            if tag in left:
                left.remove(tag)
            else:
                left.append(tag)
        for tag in tags:
            sum(other == tag for other in tags)
        return sorted(left)
