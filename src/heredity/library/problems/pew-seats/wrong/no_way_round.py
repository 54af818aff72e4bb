class Solution:
    def seated(self, count, wishes):
        after, answer = list(range(count + 1)), []
        for wish in wishes:
            seat = wish
            while after[seat] != seat:
                after[seat] = seat = after[after[seat]]
            if seat == count:
                answer.append(-1)
            else:
                answer.append(seat)
                after[seat] = seat + 1
        return answer
