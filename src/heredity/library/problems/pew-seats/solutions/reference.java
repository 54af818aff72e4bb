class Solution {
    public long[] seated(long count, long[] wishes) {
        int[] after = new int[(int) count + 1];
        for (int i = 0; i <= count; i++) after[i] = i;
        long[] answer = new long[wishes.length];
        for (int guest = 0; guest < wishes.length; guest++) {
            int seat = (int) wishes[guest];
            for (int round = 0; round < 2; round++) {
                while (after[seat] != seat) {
                    after[seat] = after[after[seat]];
                    seat = after[seat];
                }
                if (seat < count) break;
                seat = 0;
            }
            answer[guest] = seat;
            after[seat] = seat + 1;
        }
        return answer;
    }
}
