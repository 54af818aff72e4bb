class Solution:
    def fired(self, orders):
        # A number whose ones are the ranks of the orders to be fired: its length tells the longest one.
        orders = sorted(orders)
        done = total = 0
        for rank in sorted(range(len(orders)), key=lambda rank: orders[rank][1]):
            hours, due = orders[rank]
            done |= 1 << rank
            total += hours
            if total > due:
                longest = done.bit_length() - 1
                done ^= 1 << longest
                total -= orders[longest][0]
        return [done.bit_count(), total]
