class Solution {
    public long[] walk(long squares, long[][] lanes) {
        int count = lanes.length;
        int[] first = new int[(int) squares], following = new int[2 * count], degree = new int[(int) squares];
        Arrays.fill(first, -1);
        for (int half = 0; half < 2 * count; half++) {
            int here = (int) lanes[half / 2][half % 2];
            following[half] = first[here];
            first[here] = half;
            degree[here]++;
        }
        int start = (int) lanes[0][0], odd = 0;
        for (int square = 0; square < squares; square++) {
            if (degree[square] % 2 == 0) continue;
            start = square;
            odd++;
        }
        if (odd > 2) return new long[0];
        boolean[] walked = new boolean[count];
        int[] trail = new int[count + 1];
        long[] tour = new long[count + 1];
        int depth = 1, length = 0;
        trail[0] = start;
        while (depth > 0) {
            int here = trail[depth - 1], half = first[here];
            while (half >= 0 && walked[half / 2]) half = following[half];
            if (half < 0) {
                first[here] = half;
                tour[length++] = here;
                depth--;
            } else {
                first[here] = following[half];
                walked[half / 2] = true;
                trail[depth++] = (int) lanes[half / 2][1 - half % 2];
            }
        }
        return length == count + 1 ? tour : new long[0];
    }
}
