class BerthClerk:
    def __init__(self, count):
        self.count, self.ships = count, {}

    def arrive(self, ship):
        for berth, other in self.ships.items():
            if other == ship:
                return berth
        berth = 1
        while berth in self.ships:
            berth += 1
        if berth > self.count:
            return -1
        self.ships[berth] = ship
        return berth

    def leave(self, ship):
        for berth, other in self.ships.items():
            if other == ship:
                del self.ships[berth]
                return berth
        return -1
