class Solution:
    def needless(self, count, roads):
        above, found = list(range(count)), []
        for number, (a, b) in enumerate(roads):
            # Rem's way: both climb in turn, the lower one first.
            while above[a] != above[b]:
                if above[a] < above[b]:
                    a, b = b, a
                if above[a] == a:
                    above[a] = above[b]
                    break
                above[a], a = above[b], above[a]
            else:
                found.append(number)
        return found
