class Solution:
    def seated(self, count, wishes):
        # Seats twice in a row, so that nobody has to begin anew.
        after, answer = list(range(2 * count + 1)), []

        def find(seat):
            way = []
            while after[seat] != seat:
                way.append(seat)
                seat = after[seat]
            for passed in way:
                after[passed] = seat
            return seat

        for wish in wishes:
            seat = find(wish) % count
            answer.append(seat)
            after[seat] = seat + 1
            after[seat + count] = seat + count + 1
        return answer
