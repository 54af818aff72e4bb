class Solution:
    def seated(self, count, wishes):
        # For the first and the last seat of each taken run, where the other end is.
        taken, other, answer = [False] * count, list(range(count)), []
        first_free = 0
        head = list(range(count))
        for wish in wishes:
            seat = wish
            if taken[seat]:
                run = seat
                while head[run] != run:
                    head[run] = run = head[head[run]]
                seat = other[run] + 1
                if seat == count:
                    while taken[first_free]:
                        first_free = other[first_free] + 1
                    seat = first_free
            taken[seat] = True
            answer.append(seat)
            if seat and taken[seat - 1]:
                run = seat - 1
                while head[run] != run:
                    head[run] = run = head[head[run]]
                head[seat] = run
                other[run] = seat
            else:
                run = seat
            if seat + 1 < count and taken[seat + 1]:
                head[seat + 1] = run
                other[run] = other[seat + 1]
        return answer
