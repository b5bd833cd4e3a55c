package prepare

import (
	"path/filepath"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// Place says where the submitter's paths are on this node.
type Place struct {
	from, to string // a folder of the submitter's, and what it is here
	home     string // what ~ is here; empty where it stays
}

// NewPlace takes the submitter's home folder and the account's here. Without the
// submitter's, or where it is no folder of its own, every path stays.
func NewPlace(from, to string) Place {
	if from = clean(from); from == "/" {
		from = ""
	}
	return Place{from: from, to: clean(to), home: clean(to)}
}

// Moved is a program whose directory lies elsewhere on this node, as after
// --sync: what it names in the directory is meant to be in that one.
func Moved(program api.Program, directory string) api.Program {
	p := NewPlace(program.Directory, directory)
	p.home = ""
	program = p.Program(program)
	program.Directory = directory
	return program
}

func clean(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	return filepath.Clean(path)
}

// Path is a path on this node: one in the submitter's home is the same path in
// the account's, and so is one that begins with ~. Others stay as they are.
func (p Place) Path(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		if p.home == "" {
			return path
		}
		return filepath.Join(p.home, path[1:])
	}
	if p.from == "" || p.to == "" || p.from == p.to || !filepath.IsAbs(path) {
		return path
	}
	// Only the beginning is exchanged: the rest may be more than a path.
	rest, inside := below(path, p.from)
	if _, stays := below(filepath.Clean(path), p.from); inside && stays {
		return strings.TrimSuffix(p.to, "/") + rest
	}
	return path
}

// below is what follows a folder in a path in it.
func below(path, folder string) (rest string, inside bool) {
	rest, inside = strings.CutPrefix(path, folder)
	return rest, inside && (rest == "" || rest[0] == '/')
}

// Argument is an argument on this node: a path, or --name=PATH. What a shell
// would have left as ~ stays.
func (p Place) Argument(word string) string {
	if filepath.IsAbs(word) {
		return p.Path(word)
	}
	if name, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(name, "-") && filepath.IsAbs(value) {
		return name + "=" + p.Path(value)
	}
	return word
}

// Value is the value of a variable on this node: a path, or several with colons
// between them.
func (p Place) Value(value string) string {
	paths := filepath.SplitList(value)
	for i, path := range paths {
		if path != "" && !filepath.IsAbs(path) {
			return value
		}
		paths[i] = p.Path(path)
	}
	return strings.Join(paths, string(filepath.ListSeparator))
}

// Program is a program with the paths of this node. The arguments of a built-in
// one are Fulmen's own and stay.
func (p Place) Program(program api.Program) api.Program {
	program.Directory = p.Path(program.Directory)
	program.Interpreter = p.Path(program.Interpreter)
	program.Environment = p.Path(program.Environment)
	program.PrepareInputs = each(program.PrepareInputs, p.Path)
	if len(program.Prepare) > 1 {
		program.Prepare = each(program.Prepare, p.Argument)
	}
	if program.Builtin == "" {
		program.Command = each(program.Command, p.Argument)
		if len(program.Command) > 0 {
			program.Command[0] = p.Path(program.Command[0])
		}
	}
	return program
}

func each(words []string, change func(string) string) []string {
	words = slices.Clone(words)
	for i, word := range words {
		words[i] = change(word)
	}
	return words
}
