class Solution {
    public long ledger(long[] levels) {
        int count = levels.length;
        long total = 0;
        for (int sign = 1; sign >= -1; sign -= 2) {
            int[] stack = new int[count + 2];
            stack[0] = -1;
            int size = 1;
            for (int i = 0; i <= count; i++) {
                while (size > 1 && (i == count || sign * levels[stack[size - 1]] <= sign * levels[i])) {
                    int top = stack[--size];
                    long left = top - stack[size - 1], right = i - top;
                    total += sign * levels[top] * (left * right * (left + right) / 2);
                }
                stack[size++] = i;
            }
        }
        return total;
    }
}
