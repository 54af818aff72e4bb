class Solution:
    def closest(self, stalls):
        # By a direction along which hardly any two stalls are at the same place.
        points = sorted((7_919 * x + 10_007 * y, x, y) for x, y in stalls)
        square = 7_919**2 + 10_007**2
        best, many = 1 << 63, 0
        for i, (place, x, y) in enumerate(points):
            most = int((best * square) ** 0.5) + 2 + (best >> 10)
            for j in range(i + 1, len(points)):
                there, a, b = points[j]
                if there - place > most:
                    break
                far = (a - x) ** 2 + (b - y) ** 2
                if far < best:
                    best, many = far, 1
                    most = int((best * square) ** 0.5) + 2 + (best >> 10)
                elif far == best:
                    many += 1
        return [best, many]
