class Solution:
    def closest(self, stalls):
        points = sorted(map(tuple, stalls))
        best, many = 1 << 63, 0
        for i, (x, y) in enumerate(points):
            for j in range(i + 1, len(points)):
                a, b = points[j]
                if (a - x) ** 2 > best:
                    break
                far = (a - x) ** 2 + (b - y) ** 2
                if far < best:
                    best, many = far, 1
                elif far == best:
                    many += 1
        return [best, many]
