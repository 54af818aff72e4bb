from bisect import bisect_left, insort


class WeighingRoom:
    def __init__(self):
        self.history, self.blocks = [], [[]]

    def block(self, weight):
        for place, block in enumerate(self.blocks):
            if block and block[-1] >= weight:
                return place
        return len(self.blocks) - 1

    def add(self, weight):
        self.history.append(weight)
        place = self.block(weight)
        insort(self.blocks[place], weight)
        if len(self.blocks[place]) > 300:
            self.blocks[place : place + 1] = [self.blocks[place][:150], self.blocks[place][150:]]

    def undo(self, count):
        for _ in range(min(count, len(self.history))):
            weight = self.history.pop()
            place = self.block(weight)
            del self.blocks[place][bisect_left(self.blocks[place], weight)]
            if not self.blocks[place] and len(self.blocks) > 1:
                del self.blocks[place]

    def middle(self):
        left = (len(self.history) - 1) // 2
        for block in self.blocks:
            if left < len(block):
                return block[left] if left >= 0 else 0
            left -= len(block)
        return 0
