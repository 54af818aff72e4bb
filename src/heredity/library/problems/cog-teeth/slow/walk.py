class Solution:
    def singleMarks(self, drives):
        found = []
        for n, a, b in drives:
            marks, at, other = 0, a, b
            while at <= n or other <= n:
                if at == other:
                    at, other = at + a, other + b
                elif at < other:
                    marks, at = marks + 1, at + a
                else:
                    marks, other = marks + 1, other + b
            found.append(marks)
        return found
