class Solution:
    def fired(self, orders):
        count = len(orders)
        rank = {place: r for r, place in enumerate(sorted(range(count), key=lambda place: orders[place][0]))}
        hours_of = sorted(hours for hours, _ in orders)
        size = 1 << count.bit_length()
        there = [0] * (2 * size)
        total = done = 0
        for place in sorted(range(count), key=lambda place: orders[place][1]):
            node = rank[place] + size
            while node:
                there[node] += 1
                node //= 2
            done += 1
            total += orders[place][0]
            if total > orders[place][1]:
                node = 1
                while node < size:
                    node = 2 * node + (there[2 * node + 1] > 0)
                total -= hours_of[node - size]
                done -= 1
                while node:
                    there[node] -= 1
                    node //= 2
        return [done, total]
