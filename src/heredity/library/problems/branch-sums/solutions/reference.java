class Solution {
    private record Visit(TreeNode node, long total) {}

    public long even(TreeNode tree, long guests) {
        Map<Long, Long> seen = new HashMap<>();
        seen.put(0L, 1L);
        ArrayDeque<Visit> stack = new ArrayDeque<>();
        if (tree != null) stack.push(new Visit(tree, 0));
        long count = 0;
        while (!stack.isEmpty()) {
            Visit visit = stack.pop();
            if (visit.node() == null) {
                seen.merge(visit.total(), -1L, Long::sum);
                continue;
            }
            TreeNode node = visit.node();
            long total = Math.floorMod(visit.total() + node.val, guests);
            count += seen.merge(total, 1L, Long::sum) - 1;
            stack.push(new Visit(null, total));
            if (node.left != null) stack.push(new Visit(node.left, total));
            if (node.right != null) stack.push(new Visit(node.right, total));
        }
        return count;
    }
}
