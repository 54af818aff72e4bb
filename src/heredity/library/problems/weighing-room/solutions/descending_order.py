from bisect import bisect, insort


class WeighingRoom:
    def __init__(self):
        self.parcels, self.order = [], []

    def add(self, weight):
        # Negative, so that the newest of equal weights is found at once.
        self.parcels.append(weight)
        insort(self.order, -weight)

    def undo(self, count):
        keep = max(0, len(self.parcels) - count)
        while len(self.parcels) > keep:
            self.order.pop(bisect(self.order, -self.parcels.pop()) - 1)

    def middle(self):
        return -self.order[len(self.order) // 2] if self.order else 0
