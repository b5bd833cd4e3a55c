package darwincheck

import (
	"bufio"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// appleHeaders is what is known of Apple's headers: which of them includes which,
// and which declares a name that we use.
//
//go:embed headers.txt
var appleHeaders string

// headers are Apple's headers, by their paths as #include has them.
type headers struct {
	includes map[string][]string
	declares map[string]string // the header of each name
}

// parseHeaders reads such a list: a line for each header with what it includes,
// and below it, indented, the names that it declares.
func parseHeaders(text string) (headers, error) {
	h := headers{includes: map[string][]string{}, declares: map[string]string{}}
	here := ""
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t"):
			for _, name := range words {
				if there, twice := h.declares[name]; twice || here == "" {
					return h, fmt.Errorf("%s stands under %q and %q", name, there, here)
				}
				h.declares[name] = here
			}
		default:
			here = words[0]
			if _, twice := h.includes[here]; twice {
				return h, fmt.Errorf("%s stands there twice", here)
			}
			h.includes[here] = words[1:]
		}
	}
	return h, nil
}

// brings reports whether who includes one header has the other by it.
func (h headers) brings(header, other string) bool {
	seen := map[string]bool{header: true}
	for queue := []string{header}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == other {
			return true
		}
		for _, next := range h.includes[queue[0]] {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return false
}

// faults says where a header of ours gives whoever includes it more than Apple's
// header of that name does: C that compiles with ours would not with Apple's.
func (h headers) faults(header, text string) []string {
	var faults []string
	for _, other := range included(text) {
		if !h.brings(header, other) {
			faults = append(faults, fmt.Sprintf("%s includes <%s>, and Apple's does not", header, other))
		}
	}
	for _, name := range declared(text) {
		switch there := h.declares[name]; {
		case there == "":
			faults = append(faults, fmt.Sprintf("%s declares %s: say in headers.txt which of Apple's headers does", header, name))
		case !h.brings(header, there):
			faults = append(faults, fmt.Sprintf("%s declares %s, which Apple has in <%s>", header, name, there))
		}
	}
	return faults
}

var includeLine = regexp.MustCompile(`(?m)^\s*#\s*include\s*<([^>]+)>`)

// included gives the headers that C includes by names of the system.
func included(text string) []string {
	var all []string
	for _, m := range includeLine.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

var (
	comment     = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	defined     = regexp.MustCompile(`(?m)^\s*#\s*define\s+(\w+)`)
	directive   = regexp.MustCompile(`(?m)^\s*#.*$`)
	constants   = regexp.MustCompile(`\benum\s*\w*\s*\{([^}]*)\}`)
	constant    = regexp.MustCompile(`(\w+)\s*(?:=[^,]*)?(?:,|$)`)
	forward     = regexp.MustCompile(`\bstruct\s+\w+\s*;`)
	procedure   = regexp.MustCompile(`(?s)\)\s*\{[^{}]*\}`)
	body        = regexp.MustCompile(`(?s)\{[^{}]*\}`)
	pointerName = regexp.MustCompile(`\(\s*\*\s*(\w+)\s*\)\s*\(`)
	function    = regexp.MustCompile(`(\w+)\s*\(`)
	lastName    = regexp.MustCompile(`(\w+)(?:\[[^\]]*\])?\s*$`)
)

// declared gives the names that a header declares: macros, constants, types,
// functions and variables, without those of this project.
func declared(text string) []string {
	text = comment.ReplaceAllString(text, "")
	var all []string
	for _, m := range defined.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	text = directive.ReplaceAllString(text, "")
	for _, m := range constants.FindAllStringSubmatch(text, -1) {
		for _, c := range constant.FindAllStringSubmatch(strings.TrimSpace(m[1]), -1) {
			all = append(all, c[1])
		}
	}
	text = forward.ReplaceAllString(constants.ReplaceAllString(text, ""), "")
	for body.MatchString(text) {
		text = body.ReplaceAllString(procedure.ReplaceAllString(text, ");"), " ")
	}
	for statement := range strings.SplitSeq(text, ";") {
		// What a type or a variable is called stands last, or as (*name)(; what a function is, before its arguments.
		for _, form := range []*regexp.Regexp{pointerName, function, lastName} {
			if m := form.FindStringSubmatch(strings.TrimSpace(statement)); m != nil {
				all = append(all, m[1])
				break
			}
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return strings.HasPrefix(strings.ToLower(name), "fulmen") })
}

// unpublished are headers of ours for libraries that Apple has no headers of. C
// includes them by their paths here, on a Mac too.
var unpublished = []string{"IOHIDEventSystem.h", "IOReport.h"}

// ownHeaders gives the texts of the headers in native/darwin/apple that stand in
// for Apple's, by their paths there.
func ownHeaders(root string) (map[string]string, error) {
	all := map[string]string{}
	folder := filepath.Join(root, "native/darwin/apple")
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains(unpublished, d.Name()) {
			return err
		}
		text, err := os.ReadFile(path)
		relative, _ := filepath.Rel(folder, path)
		all[filepath.ToSlash(relative)] = string(text)
		return err
	})
	return all, err
}
