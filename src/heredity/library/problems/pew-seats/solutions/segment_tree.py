class Solution:
    def seated(self, count, wishes):
        size = 1
        while size < count:
            size *= 2
        free = [0] * size + [1] * count + [0] * (size - count)
        for node in range(size - 1, 0, -1):
            free[node] = free[2 * node] + free[2 * node + 1]
        answer = []
        for wish in wishes:
            node = wish + size
            # Up until a part at the right has a free seat.
            while not free[node]:
                while node & 1 and node > 1:
                    node //= 2
                node = node + 1 if node > 1 else 1
                if node == 1:
                    break
                if not free[node] and node % 2 == 0:
                    # The neighbour is full, too: go on from their parent.
                    continue
            while node < size:
                node *= 2
                if not free[node]:
                    node += 1
            answer.append(node - size)
            while node:
                free[node] -= 1
                node //= 2
        return answer
