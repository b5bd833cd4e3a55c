package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
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

// TestOwnHeadersGiveNoMoreThanApples holds the headers that stand in for Apple's
// to what those include and declare. That a C file includes what it uses, its
// compilation says then.
func TestOwnHeadersGiveNoMoreThanApples(t *testing.T) {
	is := is.New(t)
	apple, err := parseHeaders(appleHeaders)
	is.NoErr(err)
	own, err := ownHeaders(repository)
	is.NoErr(err)
	unused := maps.Clone(apple.declares)
	for _, header := range slices.Sorted(maps.Keys(own)) {
		for _, fault := range apple.faults(header, own[header]) {
			t.Error(fault)
		}
		for _, name := range declared(own[header]) {
			delete(unused, name)
		}
	}
	is.Equal(slices.Sorted(maps.Keys(unused)), nil) // in headers.txt, and declared by no header of ours
}

func TestMoreThanApplesIsFound(t *testing.T) {
	const list = "# Kit\n\nKit/Kit.h Kit/KitBase.h stdint.h\n\tKitOpen KitItem\n\nKit/KitBase.h\n\tKitRef KitKind\n\nKit/KitTags.h\n\tkKitPrompt\n"
	for _, test := range []struct{ name, header, text, want string }{
		{"all is well", "Kit/Kit.h", "#include <stdint.h>\ntypedef struct kit *KitRef; // and kKitPrompt\nint KitOpen(KitRef kit);\n", ""},
		{"a name of a header that Apple's does not include", "Kit/Kit.h", "#define kKitPrompt \"prompt\"\n", "Kit/Kit.h declares kKitPrompt, which Apple has in <Kit/KitTags.h>"},
		{"a name of a header that includes Apple's", "Kit/KitBase.h", "int KitOpen(KitRef kit);\n", "Kit/KitBase.h declares KitOpen, which Apple has in <Kit/Kit.h>"},
		{"a name that nobody knows", "Kit/Kit.h", "extern const int kKitOther;\n", "Kit/Kit.h declares kKitOther: say in headers.txt which of Apple's headers does"},
		{"a header that Apple's does not include", "Kit/Kit.h", "#include <Kit/KitTags.h>\n", "Kit/Kit.h includes <Kit/KitTags.h>, and Apple's does not"},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			apple, err := parseHeaders(list)
			is.NoErr(err)
			is.Equal(strings.Join(apple.faults(test.header, test.text), "\n"), test.want)
		})
	}
	is := is.New(t)
	for _, twice := range []string{"a.h\n\tX\nb.h\n\tX\n", "a.h\na.h\n", "\tX\n"} {
		_, err := parseHeaders(twice)
		is.True(err != nil)
	}
}

func TestDeclaredNames(t *testing.T) {
	is := is.New(t)
	is.Equal(declared(`#ifndef FULMEN_KIT_H
#define LIMIT 1 /* not OTHER */
typedef unsigned char Flag;
typedef char name_t[128];
typedef const struct __Kit *KitRef;
typedef struct { int a; const void *(*retain)(const void *info); } Context;
typedef struct { int fulmen; } fulmen_kit;
struct other;
typedef void (*Callback)(KitRef kit, void *info);
enum { kOne = 1, kTwo = 1 << 1, kThree, };
enum { kLast };
static inline Flag Make(int a) {
	Flag made[] = {1, 2};
	if (a) { return made[0]; }
	return made[1];
}
extern const Flag kFlag; // kNot
const char *Text(int status);
Flag KitSet(KitRef kit,
	CFStringRef key);
#endif
`), []string{"Callback", "Context", "Flag", "KitRef", "KitSet", "LIMIT", "Make", "Text", "kFlag", "kLast", "kOne", "kThree", "kTwo", "name_t"})
}
