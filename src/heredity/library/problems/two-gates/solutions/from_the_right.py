class Solution:
    def twoGates(self, tolls, purse):
        after, found = {}, [-1, -1]
        for place in range(len(tolls) - 1, -1, -1):
            other = after.get(purse - tolls[place])
            if other is not None:
                found = [place, other]
            after[tolls[place]] = place
        return found
