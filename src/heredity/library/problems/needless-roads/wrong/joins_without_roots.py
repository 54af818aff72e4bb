class Solution:
    def needless(self, count, roads):
        above, found = list(range(count)), []

        def find(x):
            while above[x] != x:
                x = above[x]
            return x

        for number, (a, b) in enumerate(roads):
            if find(a) == find(b):
                found.append(number)
            else:
                above[a] = find(b)
        return found
