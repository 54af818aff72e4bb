class BerthClerk:
    SIZE = 250

    def __init__(self, count):
        self.count, self.ships, self.blocks, self.berths = count, [], [], {}

    def arrive(self, ship):
        if ship in self.berths:
            return self.berths[ship]
        if len(self.berths) == self.count:
            return -1
        for block, taken in enumerate(self.blocks):
            if taken < self.SIZE:
                break
        else:
            block = len(self.blocks)
            self.blocks.append(0)
            self.ships += [None] * self.SIZE
        at = self.ships.index(None, block * self.SIZE)
        self.ships[at] = ship
        self.blocks[block] += 1
        self.berths[ship] = at + 1
        return at + 1

    def leave(self, ship):
        berth = self.berths.pop(ship, -1)
        if berth > 0:
            self.ships[berth - 1] = None
            self.blocks[(berth - 1) // self.SIZE] -= 1
        return berth
