class Solution:
    def closest(self, stalls):
        points = sorted(map(tuple, stalls))
        found = {}

        def compare(row):
            # Pairs of a list by y that are near in it; the table forgets none twice.
            for i, (x, y) in enumerate(row):
                for a, b in row[i + 1 :]:
                    if (b - y) ** 2 > found.get("best", 1 << 63):
                        break
                    far = (a - x) ** 2 + (b - y) ** 2
                    if far < found.get("best", 1 << 63):
                        found["best"], found["pairs"] = far, set()
                    if far == found["best"]:
                        found["pairs"].add((min((x, y), (a, b)), max((x, y), (a, b))))

        def part(row):
            if len(row) <= 3:
                compare(sorted(row, key=lambda point: point[1]))
                return
            middle = len(row) // 2
            part(row[:middle])
            part(row[middle:])
            edge = row[middle][0]
            compare_strip([point for point in row if (point[0] - edge) ** 2 <= found["best"]])

        def compare_strip(row):
            row.sort(key=lambda point: point[1])
            for i, (x, y) in enumerate(row):
                j = i + 1
                while j < len(row) and (row[j][1] - y) ** 2 <= found["best"]:
                    a, b = row[j]
                    far = (a - x) ** 2 + (b - y) ** 2
                    if far < found["best"]:
                        found["best"], found["pairs"] = far, set()
                    if far == found["best"]:
                        found["pairs"].add((min((x, y), (a, b)), max((x, y), (a, b))))
                    j += 1

        part(points)
        return [found["best"], len(found["pairs"])]
