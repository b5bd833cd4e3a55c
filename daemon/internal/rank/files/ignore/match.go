package ignore

import "strings"

// matches judges a path, relative to the folder of the pattern's file.
func (p pattern) matches(path string, folder bool) bool {
	if p.folderOnly && !folder {
		return false
	}
	if p.nameOnly {
		return p.segments[0].matches(path[strings.LastIndexByte(path, '/')+1:])
	}
	return matchAll(p.segments, strings.Split(path, "/"))
}

// matchAll matches elements from the first to the last. It needs no more steps
// than there are pairs of a segment and an element.
func matchAll(segments []segment, elements []string) bool {
	// reach[e] says that the segments so far can match the first e elements.
	reach := make([]bool, len(elements)+1)
	reach[0] = true
	for n, s := range segments {
		next := make([]bool, len(reach))
		last := n == len(segments)-1
		found := false
		for e, ok := range reach {
			switch {
			case s.any && last: // all that is below, not the folder itself
				next[e] = found
				found = found || ok
			case s.any:
				found = found || ok
				next[e] = found
			case ok && e < len(elements) && s.matches(elements[e]):
				next[e+1] = true
			}
		}
		reach = next
	}
	return reach[len(elements)]
}

// matches judges one element. Where a star took too little, only the latest one
// takes more: an earlier one could gain nothing by it.
func (s segment) matches(name string) bool {
	t, n := 0, 0
	star, from := -1, 0
	for n < len(name) {
		switch {
		case t < len(s.tokens) && s.tokens[t].star:
			star, from = t, n
			t++
		case t < len(s.tokens) && s.tokens[t].set.has(name[n]):
			t++
			n++
		case star >= 0:
			from++
			t, n = star+1, from
		default:
			return false
		}
	}
	for t < len(s.tokens) && s.tokens[t].star {
		t++
	}
	return t == len(s.tokens)
}
