class Solution:
    def spareGloves(self, tags):
        tags.sort()
        found, place = [], 0
        while place < len(tags):
            if place + 1 < len(tags) and tags[place] == tags[place + 1]:
                place += 2
            else:
                found.append(tags[place])
                place += 1
        return found
