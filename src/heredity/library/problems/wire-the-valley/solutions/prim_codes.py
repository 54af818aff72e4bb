from heapq import heappop, heappush


class Queue(list):
    """Keys and nodes in one integer each."""

    def push(self, key, node):
        heappush(self, key << 20 | node)

    def pop(self):
        code = heappop(self)
        return code >> 20, code & 0xFFFFF


class Solution:
    def price(self, count, wired, offers):
        near, total = [[] for _ in range(count)], 0
        for a, b in wired:
            near[a].append((b, 0))
            near[b].append((a, 0))
        for a, b, price in offers:
            if price < 0:
                total, price = total + price, 0
            near[a].append((b, price))
            near[b].append((a, price))
        queue, inside, left = Queue(), bytearray(count), count
        queue.push(0, 0)
        while len(queue) and left:
            price, a = queue.pop()
            if inside[a]:
                continue
            inside[a], left, total = 1, left - 1, total + price
            for b, more in near[a]:
                if not inside[b]:
                    queue.push(more, b)
        return -1 if left else total
