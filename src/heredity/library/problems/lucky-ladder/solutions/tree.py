class Solution:
    def expectedPaid(self, stairs, faces):
        size = stairs + 1
        tree = [0.0] * (size + 1)

        def upto(place):
            total = 0.0
            while place > 0:
                total += tree[place]
                place &= place - 1
            return total

        cost = 0.0
        for stair in range(1, stairs + 1):
            cost = (faces - 1 + upto(stair - 1) - upto(stair - 1 - faces)) / faces
            place = stair
            while place <= size:
                tree[place] += cost
                place += place & -place
        return cost
