class Solution:
    def bestTune(self, first, second):
        size = len(second) + 1
        tree = [0] * (size + 1)
        places = {}
        for j in range(len(second) - 1, -1, -1):
            places.setdefault(second[j], []).append(j)
        last = {}
        for note in first:
            now = {}
            for j in places.get(note, ()):
                top, place = max(0, last.get(j - 1, -9) + 1), j
                while place:
                    if tree[place] > top:
                        top = tree[place]
                    place &= place - 1
                now[j] = top + 1
            for j, points in now.items():
                place = j + 1
                while place <= size and tree[place] < points:
                    tree[place] = points
                    place += place & -place
            last = now
        return max(tree)
