class Solution:
    def twoGates(self, tolls, purse):
        order = sorted(range(len(tolls)), key=lambda place: (tolls[place], place))
        best = [-1, -1]
        low, high = 0, len(order) - 1
        starts = {}
        for rank, place in enumerate(order):
            starts.setdefault(tolls[place], rank)
        while low < high:
            total = tolls[order[low]] + tolls[order[high]]
            if total < purse:
                low += 1
            elif total > purse:
                high -= 1
            else:
                small, large = tolls[order[low]], tolls[order[high]]
                if small == large:
                    pair = sorted(order[low : low + 2])
                else:
                    pair = sorted([order[starts[small]], order[starts[large]]])
                if best[0] < 0 or pair < best:
                    best = pair
                while low < high and tolls[order[low]] == small:
                    low += 1
        return best
