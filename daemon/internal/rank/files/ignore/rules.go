package ignore

import "strings"

// Rules are the patterns of one .gitignore file, which count below its folder.
type Rules struct {
	parent   *Rules
	folder   string // of the file, from the root; "" = the root
	patterns []pattern
}

// Parse reads the text of a file in a folder, a path from the root with slashes,
// "" for the root itself. Where it says nothing of a path, the parent does, which
// is nil or the rules of a folder above.
func Parse(parent *Rules, folder string, text []byte) *Rules {
	r := &Rules{parent: parent, folder: folder}
	all := strings.TrimPrefix(string(text), "\ufeff")
	for line := range strings.SplitSeq(all, "\n") {
		if p, ok := parse(strings.TrimSuffix(line, "\r")); ok {
			r.patterns = append(r.patterns, p)
		}
	}
	return r
}

// Excludes judges a path from the root, whose folder is not excluded itself: what
// is in an excluded folder is not to be asked about.
func (r *Rules) Excludes(path string, folder bool) bool {
	for ; r != nil; r = r.parent {
		relative := path
		if r.folder != "" {
			var below bool
			if relative, below = strings.CutPrefix(path, r.folder+"/"); !below {
				continue
			}
		}
		for i := len(r.patterns) - 1; i >= 0; i-- {
			if r.patterns[i].matches(relative, folder) {
				return !r.patterns[i].negated
			}
		}
	}
	return false
}
