class Solution:
    def fired(self, orders):
        count = total = 0
        for hours, due in sorted(orders, key=lambda order: (order[1], order[0])):
            if total + hours <= due:
                count, total = count + 1, total + hours
        return [count, total]
