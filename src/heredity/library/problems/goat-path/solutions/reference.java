class Solution {
    private static final int[][] NEAR = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

    public long longest(long[][] heights, long leap) {
        int rows = heights.length, columns = heights[0].length;
        long[] order = new long[rows * columns];
        for (int rock = 0; rock < order.length; rock++) order[rock] = heights[rock / columns][rock % columns] << 16 | rock;
        Arrays.sort(order);
        int[][] stands = new int[rows][columns];
        int longest = 0;
        for (long code : order) {
            int rock = (int) (code & 0xFFFF), row = rock / columns, column = rock % columns, best = 0;
            long height = code >> 16;
            for (int[] way : NEAR) {
                int r = row + way[0], c = column + way[1];
                if (r < 0 || c < 0 || r == rows || c == columns) continue;
                long rise = height - heights[r][c];
                if (rise > 0 && rise <= leap) best = Math.max(best, stands[r][c]);
            }
            stands[row][column] = best + 1;
            longest = Math.max(longest, best + 1);
        }
        return longest;
    }
}
