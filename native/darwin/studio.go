package darwin

import "slices"

// isStudio reports whether a model is a Mac Studio, whose back is known: the
// Ethernet socket is right of the receptacles.
func isStudio(model string) bool {
	return slices.Contains([]string{"Mac13,1", "Mac13,2", "Mac14,13", "Mac14,14", "Mac15,14", "Mac16,9"}, model)
}
