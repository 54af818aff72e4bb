from heapq import merge


class Solution:
    def closest(self, stalls):
        points = sorted(map(tuple, stalls))
        best, many = 1 << 63, 0

        def part(low, high):
            # Looks through [low, high), and returns it by y.
            nonlocal best, many
            if high - low == 1:
                return [points[low][::-1]]
            middle = (low + high) // 2
            edge = points[middle][0]
            left, right = part(low, middle), part(middle, high)
            strip = [(y, x, 0) for y, x in left if (edge - x) ** 2 <= best]
            strip += [(y, x, 1) for y, x in right if (x - edge) ** 2 <= best]
            strip.sort()
            for i, (y, x, side) in enumerate(strip):
                for j in range(i + 1, len(strip)):
                    b, a, other = strip[j]
                    if (b - y) ** 2 > best:
                        break
                    if side != other:
                        far = (b - y) ** 2 + (a - x) ** 2
                        if far < best:
                            best, many = far, 1
                        elif far == best:
                            many += 1
            return list(merge(left, right))

        part(0, len(points))
        return [best, many]
