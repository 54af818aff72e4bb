class Solution:
    def seated(self, count, wishes):
        # Only seats that are taken are in the table; ways are made short at their end.
        after, answer = {}, []
        for wish in wishes:
            way, seat = [], wish
            while seat in after:
                way.append(seat)
                seat = after[seat]
            ahead = (seat + 1) % count
            for passed in way:
                after[passed] = ahead
            after[seat] = ahead
            answer.append(seat)
        return answer
