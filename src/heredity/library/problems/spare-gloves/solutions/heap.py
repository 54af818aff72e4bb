import heapq


class Solution:
    def spareGloves(self, tags):
        heapq.heapify(tags)
        found = []
        while tags:
            tag = heapq.heappop(tags)
            if tags and tags[0] == tag:
                heapq.heappop(tags)
            else:
                found.append(tag)
        return found
