func light(node *TreeNode) (int, int) {
	if node == nil {
		return 0, 0
	}
	a, b := light(node.Left)
	c, d := light(node.Right)
	return node.Val + b + d, max(a, b) + max(c, d)
}

func brightest(tree *TreeNode) int {
	with, without := light(tree)
	return max(with, without)
}
