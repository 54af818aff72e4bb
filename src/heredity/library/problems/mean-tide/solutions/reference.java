class Solution {
    public double highestMean(double[] levels, long hours) {
        int width = (int) hours;
        double[] sums = new double[levels.length + 1];
        for (int i = 0; i < levels.length; i++) sums[i + 1] = sums[i] + levels[i];
        double best = Double.NEGATIVE_INFINITY;
        for (int i = width; i < sums.length; i++) best = Math.max(best, sums[i] - sums[i - width]);
        return best / hours;
    }
}
