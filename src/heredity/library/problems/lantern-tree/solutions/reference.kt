class Solution {
    fun brightest(tree: TreeNode?): Long {
        fun light(node: TreeNode?): Pair<Long, Long> {
            if (node == null) return Pair(0, 0)
            val (a, b) = light(node.left)
            val (c, d) = light(node.right)
            return Pair(node.`val` + b + d, maxOf(a, b) + maxOf(c, d))
        }
        val (with, without) = light(tree)
        return maxOf(with, without)
    }
}
