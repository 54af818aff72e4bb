class Solution:
    def needless(self, count, roads):
        seen, found = set(), []
        for number, (a, b) in enumerate(roads):
            if a == b or (a, b) in seen or (b, a) in seen:
                found.append(number)
            seen.add((a, b))
        return found
