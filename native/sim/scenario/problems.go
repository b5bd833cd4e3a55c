package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"fulmen/native/nearest"
	"fulmen/native/tomltext"
)

// maxProblems bounds how many problems one file is told of at once.
const maxProblems = 20

// problems collects everything wrong with a file, so that one reading tells all.
type problems struct {
	file  string
	lines tomltext.Lines // nil: a scenario that did not come from a text
	list  []problem
	known map[problem]bool
}

type problem struct {
	line int
	text string
}

// add notes a problem at the path, unless the same is known of its line.
func (p *problems) add(path, format string, args ...any) {
	found := problem{p.lines.At(path), fmt.Sprintf(format, args...)}
	if !p.known[found] {
		p.list = append(p.list, found)
	}
	if p.known == nil {
		p.known = map[problem]bool{}
	}
	p.known[found] = true
}

// alias gives the line of a path to a second path.
func (p *problems) alias(second, path string) {
	if _, taken := p.lines[second]; !taken && p.lines != nil {
		p.lines[second] = p.lines.At(path)
	}
}

// member is the second path of a table that is known by a name or number of its
// own, wherever in the file it is.
func member(path string, by any) string { return fmt.Sprintf("%s[=%v]", path, by) }

// lineNote returns " (line 38)" for a path that another problem refers to.
func (p *problems) lineNote(path string) string {
	if line := p.lines.At(path); line > 0 {
		return fmt.Sprintf(" (line %d)", line)
	}
	return ""
}

// err joins the problems in the order of their lines; nil where there are none.
func (p *problems) err() error {
	slices.SortStableFunc(p.list, func(a, b problem) int { return cmp.Compare(a.line, b.line) })
	var all []error
	for i, found := range p.list {
		if i == maxProblems {
			all = append(all, fmt.Errorf("%s: and %d more", p.file, len(p.list)-i))
			break
		}
		if found.line > 0 {
			all = append(all, fmt.Errorf("%s:%d: %s", p.file, found.line, found.text))
		} else {
			all = append(all, fmt.Errorf("%s: %s", p.file, found.text))
		}
	}
	return errors.Join(all...)
}

// didYouMean returns " (did you mean "X"?)" for the known name nearest to what
// was written, or nothing where none is near.
func didYouMean(written string, known []string) string {
	if name := nearest.Of(written, known); name != "" {
		return fmt.Sprintf(" (did you mean %q?)", name)
	}
	return ""
}
