class Solution {
    fun proud(tree: TreeNode?): Long {
        val order = ArrayList<TreeNode>()
        if (tree != null) order.add(tree)
        var next = 0
        while (next < order.size) {
            val node = order[next++]
            node.left?.let { order.add(it) }
            node.right?.let { order.add(it) }
        }
        val sums = java.util.IdentityHashMap<TreeNode, Long>()
        var count = 0L
        for (node in order.asReversed()) {
            val below = (node.left?.let { sums[it] } ?: 0L) + (node.right?.let { sums[it] } ?: 0L)
            if (node.`val` > below) count++
            sums[node] = below + node.`val`
        }
        return count
    }
}
