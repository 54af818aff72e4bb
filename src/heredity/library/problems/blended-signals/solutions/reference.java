class Solution {
    long blends(long[] signals) {
        long total = 0;
        for (int lamp = 0; lamp < 30; lamp++) {
            long last = 0;
            for (int i = 0; i < signals.length; i++) {
                if ((signals[i] >> lamp & 1) == 1) last = i + 1;
                total += last << lamp;
            }
        }
        return total;
    }
}
