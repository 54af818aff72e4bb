class Solution {
    public long proud(TreeNode tree) {
        List<TreeNode> order = new ArrayList<>();
        if (tree != null) order.add(tree);
        for (int i = 0; i < order.size(); i++) {
            TreeNode node = order.get(i);
            if (node.left != null) order.add(node.left);
            if (node.right != null) order.add(node.right);
        }
        Map<TreeNode, Long> sums = new IdentityHashMap<>();
        long count = 0;
        for (int i = order.size() - 1; i >= 0; i--) {
            TreeNode node = order.get(i);
            long below = sums.getOrDefault(node.left, 0L) + sums.getOrDefault(node.right, 0L);
            if (node.val > below) count++;
            sums.put(node, below + node.val);
        }
        return count;
    }
}
