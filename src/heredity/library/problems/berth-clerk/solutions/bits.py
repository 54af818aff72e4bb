class BerthClerk:
    def __init__(self, count):
        self.count, self.berths = count, {}
        self.words, self.high = [], 0

    def arrive(self, ship):
        if ship in self.berths:
            return self.berths[ship]
        if len(self.berths) == self.count:
            return -1
        at = next((i for i in range(self.high, len(self.words)) if self.words[i]), len(self.words))
        if at == len(self.words):
            self.words.append((1 << 4096) - 1)
        self.high = at
        bit = self.words[at] & -self.words[at]
        self.words[at] ^= bit
        berth = at * 4096 + bit.bit_length()
        self.berths[ship] = berth
        return berth

    def leave(self, ship):
        berth = self.berths.pop(ship, -1)
        if berth > 0:
            at, bit = divmod(berth - 1, 4096)
            self.words[at] |= 1 << bit
            self.high = min(self.high, at)
        return berth
