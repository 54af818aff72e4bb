class BerthClerk:
    def __init__(self, count):
        self.count, self.fresh, self.heap, self.berths = count, 1, [], {}

    def arrive(self, ship):
        if ship in self.berths:
            return self.berths[ship]
        heap = self.heap
        if heap:
            berth, last, at = heap[0], heap.pop(), 0
            while heap and (child := 2 * at + 1) < len(heap):
                if child + 1 < len(heap) and heap[child + 1] < heap[child]:
                    child += 1
                if heap[child] >= last:
                    break
                heap[at], at = heap[child], child
            if heap:
                heap[at] = last
        elif self.fresh <= self.count:
            berth, self.fresh = self.fresh, self.fresh + 1
        else:
            return -1
        self.berths[ship] = berth
        return berth

    def leave(self, ship):
        berth = self.berths.pop(ship, -1)
        if berth > 0:
            heap, at = self.heap, len(self.heap)
            heap.append(berth)
            while at and heap[(at - 1) // 2] > berth:
                heap[at] = heap[(at - 1) // 2]
                at = (at - 1) // 2
            heap[at] = berth
        return berth
