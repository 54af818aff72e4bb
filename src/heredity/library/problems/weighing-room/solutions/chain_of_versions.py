class WeighingRoom:
    def __init__(self):
        # Every version is kept: a node is (how many, lower half, upper half), shared where nothing changed.
        self.versions = [None]

    def put(self, node, low, high, weight):
        count, left, right = node or (0, None, None)
        if high - low == 1:
            return count + 1, None, None
        middle = (low + high) // 2
        if weight < middle:
            left = self.put(left, low, middle, weight)
        else:
            right = self.put(right, middle, high, weight)
        return count + 1, left, right

    def add(self, weight):
        self.versions.append(self.put(self.versions[-1], 0, 1 << 17, weight))

    def undo(self, count):
        del self.versions[max(1, len(self.versions) - count) :]

    def middle(self):
        node = self.versions[-1]
        if not node:
            return 0
        low, high, left = 0, 1 << 17, (node[0] - 1) // 2
        while high - low > 1:
            below, middle = node[1][0] if node[1] else 0, (low + high) // 2
            if left < below:
                node, high = node[1], middle
            else:
                node, low, left = node[2], middle, left - below
        return low
