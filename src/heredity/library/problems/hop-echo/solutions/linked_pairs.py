class Solution:
    def heard(self, count, calls, sources, hops):
        head, after, to = [-1] * count, [], []
        for number, (a, b) in enumerate(calls):
            after.append(head[a])
            to.append(b)
            head[a] = number
        time = [count + 1] * count
        order = []
        for a in sources:
            if time[a]:
                time[a] = 0
                order.append(a)
        for a in order:
            edge = head[a]
            while edge >= 0:
                b = to[edge]
                if time[b] > time[a] + 1:
                    time[b] = time[a] + 1
                    order.append(b)
                edge = after[edge]
        return [a for a in range(count) if time[a] == hops and hops <= count]
