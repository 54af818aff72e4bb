class Solution:
    def needless(self, count, roads):
        known, found = set(), []
        for number, (a, b) in enumerate(roads):
            if a == b or (a in known and b in known):
                found.append(number)
            known |= {a, b}
        return found
