package api

import "slices"

// Enum is a closed set of words on the wire. A reader keeps a word it does not
// know: it comes from a newer version.
type Enum interface {
	// Values lists the set, in the order in which people read it.
	Values() []string
}

// words is how an enum lists its constants.
func words[T ~string](all ...T) []string {
	out := make([]string, len(all))
	for i, w := range all {
		out[i] = string(w)
	}
	return out
}

// known reports whether a word belongs to its enum.
func known[T interface {
	~string
	Enum
}](w T) bool {
	return slices.Contains(w.Values(), string(w))
}
