class Solution:
    def expectedPaid(self, stairs, faces):
        cost = [0.0]
        while len(cost) <= stairs:
            # A block of as many stairs as the die has faces: what leaves the window is known.
            old = cost[-faces:] if len(cost) >= faces else [0.0] * (faces - len(cost)) + cost
            total, block = sum(old), []
            for leaving in old[: stairs + 1 - len(cost)]:
                block.append((faces - 1 + total) / faces)
                total += block[-1] - leaving
            cost += block
        return cost[stairs]
