class Solution {
    public long longestBoard(long[] logs, long saw, long boards) {
        long low = 0, high = Arrays.stream(logs).max().getAsLong();
        while (low < high) {
            long middle = (low + high + 1) / 2, count = 0;
            for (long log : logs) count += (log + saw) / (middle + saw);
            if (count >= boards) low = middle;
            else high = middle - 1;
        }
        return low;
    }
}
