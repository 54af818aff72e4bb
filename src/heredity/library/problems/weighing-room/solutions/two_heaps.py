from heapq import heappop, heappush


class WeighingRoom:
    def __init__(self):
        # Parcels by number; those undone stay in the heaps until they come to the top.
        self.low, self.high, self.side, self.history = [], [], {}, []
        self.number, self.balance = 0, 0

    def clean(self):
        for heap, name in ((self.low, "low"), (self.high, "high")):
            while heap and self.side.get(heap[0][1]) != name:
                heappop(heap)

    def level(self):
        self.clean()
        while self.balance > 1:
            weight, number = heappop(self.low)
            heappush(self.high, (-weight, number))
            self.side[number] = "high"
            self.balance -= 2
            self.clean()
        while self.balance < 0:
            weight, number = heappop(self.high)
            heappush(self.low, (-weight, number))
            self.side[number] = "low"
            self.balance += 2
            self.clean()

    def add(self, weight):
        self.number += 1
        self.history.append(self.number)
        if self.low and weight <= -self.low[0][0]:
            self.side[self.number] = "low"
            heappush(self.low, (-weight, self.number))
            self.balance += 1
        else:
            self.side[self.number] = "high"
            heappush(self.high, (weight, self.number))
            self.balance -= 1
        self.level()

    def undo(self, count):
        while count and self.history:
            self.balance += -1 if self.side.pop(self.history.pop()) == "low" else 1
            count -= 1
            self.level()

    def middle(self):
        return -self.low[0][0] if self.low else 0
