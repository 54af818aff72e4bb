class Solution:
    def fired(self, orders):
        least = [0]
        for hours, due in sorted(orders, key=lambda order: order[1]):
            least.append(10**18)
            for count in range(len(least) - 1, 0, -1):
                now = least[count - 1] + hours
                if now <= due and now < least[count]:
                    least[count] = now
            if least[-1] == 10**18:
                least.pop()
        return [len(least) - 1, least[-1]]
