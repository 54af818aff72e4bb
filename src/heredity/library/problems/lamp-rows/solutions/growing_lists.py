class Solution:
    def bright(self, rows, columns, pulls):
        places = {}
        for place, (side, number) in enumerate(pulls):
            places.setdefault((side, number), []).append(place)
        total = [[0, 0, 0], [0, 0, 0]]
        for (side, _), at in places.items():
            total[side][len(at) % 3] += 1
        touched = [sum(total[0]), sum(total[1])]
        total[0][0] += rows - touched[0]
        total[1][0] += columns - touched[1]
        return sum(total[0][i] * total[1][2 - i] for i in range(3))
