class StampLedger:
    def __init__(self, room):
        self.room, self.place_of, self.lost = room, {}, []
        # Place 0 is the ring's beginning and end.
        self.before, self.after = [0] * (room + 1), [0] * (room + 1)
        self.stamps, self.prices = [""] * (room + 1), [0] * (room + 1)

    def out(self, place):
        before, after = self.before[place], self.after[place]
        self.after[before], self.before[after] = after, before

    def push(self, place):
        last = self.before[0]
        self.after[last] = self.before[0] = place
        self.before[place], self.after[place] = last, 0

    def record(self, stamp, price):
        place = self.place_of.get(stamp)
        if place is None:
            place = len(self.place_of) + 1
            if place > self.room:
                place = self.after[0]
                self.out(place)
                self.lost.append(self.stamps[place])
                del self.place_of[self.stamps[place]]
            self.stamps[place], self.place_of[stamp] = stamp, place
        else:
            self.out(place)
        self.prices[place] = price
        self.push(place)

    def price(self, stamp):
        place = self.place_of.get(stamp)
        if place is None:
            return -1
        self.out(place)
        self.push(place)
        return self.prices[place]

    def forgotten(self):
        lost, self.lost = self.lost, []
        return lost
