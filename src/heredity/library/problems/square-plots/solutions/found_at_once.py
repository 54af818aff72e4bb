class Solution:
    def plots(self, posts):
        # Each diagonal makes a plot with each of its kind before it.
        before, found = {}, 0
        for i in range(len(posts)):
            a, b = posts[i]
            for j in range(i):
                c, d = posts[j]
                key = a + c, b + d, (a - c) ** 2 + (b - d) ** 2
                many = before.get(key, 0)
                found += many
                before[key] = many + 1
        return found
