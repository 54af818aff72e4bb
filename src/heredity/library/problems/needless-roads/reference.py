class Solution:
    def needless(self, count, roads):
        above, found = list(range(count)), []
        for number, (a, b) in enumerate(roads):
            while above[a] != a:
                above[a] = a = above[above[a]]
            while above[b] != b:
                above[b] = b = above[above[b]]
            if a == b:
                found.append(number)
            above[a] = b
        return found
