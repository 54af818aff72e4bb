class WeighingRoom:
    def __init__(self):
        self.history, self.counts = [], {}

    def add(self, weight):
        self.history.append(weight)
        self.count(weight, 1)

    def count(self, weight, by):
        # Prefixes of the weight's six decimal digits.
        text = f"{weight:06d}"
        for length in range(7):
            self.counts[text[:length]] = self.counts.get(text[:length], 0) + by

    def undo(self, count):
        for _ in range(min(count, len(self.history))):
            self.count(self.history.pop(), -1)

    def middle(self):
        left, prefix = (len(self.history) - 1) // 2, ""
        while self.history and len(prefix) < 6:
            for digit in "0123456789":
                there = self.counts.get(prefix + digit, 0)
                if left < there:
                    prefix += digit
                    break
                left -= there
        return int(prefix or 0)
