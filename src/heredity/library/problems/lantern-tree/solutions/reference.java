class Solution {
    public long brightest(TreeNode tree) {
        long[] best = light(tree);
        return Math.max(best[0], best[1]);
    }

    private long[] light(TreeNode node) {
        if (node == null) return new long[] {0, 0};
        long[] left = light(node.left), right = light(node.right);
        return new long[] {
            node.val + left[1] + right[1], Math.max(left[0], left[1]) + Math.max(right[0], right[1])
        };
    }
}
