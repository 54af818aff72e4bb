class Solution {
    fun even(tree: TreeNode?, guests: Long): Long {
        val seen = HashMap<Long, Long>()
        seen[0] = 1
        val stack = ArrayList<Pair<TreeNode?, Long>>()
        if (tree != null) stack.add(Pair(tree, 0L))
        var count = 0L
        while (stack.isNotEmpty()) {
            val (node, above) = stack.removeAt(stack.size - 1)
            if (node == null) {
                seen[above] = seen[above]!! - 1
                continue
            }
            val total = Math.floorMod(above + node.`val`, guests)
            val before = seen[total] ?: 0L
            count += before
            seen[total] = before + 1
            stack.add(Pair(null, total))
            if (node.left != null) stack.add(Pair(node.left, total))
            if (node.right != null) stack.add(Pair(node.right, total))
        }
        return count
    }
}
