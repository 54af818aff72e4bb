class Solution:
    def fired(self, orders):
        done, total = [], 0
        for hours, due in sorted(orders, key=lambda order: order[1]):
            done.append(hours)
            total += hours
            if total > due:
                total -= done.pop(0)
        return [len(done), total]
