class Solution:
    def seated(self, count, wishes):
        after, answer = list(range(count + 1)), []
        for wish in wishes:
            for start in (wish, 0):
                seat = start
                while after[seat] != seat:
                    after[seat] = seat = after[after[seat]]
                if seat < count:
                    break
            answer.append(seat)
            after[seat] = seat + 1
        return answer
