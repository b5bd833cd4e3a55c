package stall

import "strings"

// collectives are what MLX's functions are called that a thread is in while it takes part in
// a collective: of JACCL, of the ring, and of what both are made of.
var collectives = []string{"MeshImpl", "RingImpl", "MeshGroup::", "RingGroup::", "poll_cq"}

// StackOf says what the text of a look at a process's stacks shows, as sample(1) of macOS
// prints it.
func StackOf(text string) Stack {
	_, graph, isThere := strings.Cut(text, "Call graph:")
	if !isThere {
		return ""
	}
	graph, _, _ = strings.Cut(graph, "Total number in stack") // libraries follow
	for _, name := range collectives {
		if strings.Contains(graph, name) {
			return StackCollective
		}
	}
	return StackOutside
}
