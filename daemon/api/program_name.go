package api

import (
	"cmp"
	"path"
	"regexp"
	"strings"
)

// python is what interpreters of Python are called.
var python = regexp.MustCompile(`^pythonw?([23](\.\d+)?t?)?$`)

// FileName is the program's own name, without folders; of a built-in one its word.
func (p Program) FileName() string {
	switch {
	case p.Builtin != "":
		return string(p.Builtin)
	case len(p.Command) == 0:
		return ""
	}
	return path.Base(p.Command[0])
}

// ScriptName is what a job is called that was given no name: where Python runs the
// program, the name of the script or the module, else FileName.
func (p Program) ScriptName() string {
	name := p.FileName()
	if p.Builtin != "" || !python.MatchString(name) {
		return name
	}
	if script := script(p.Command[1:]); script != "" {
		return script
	}
	return name
}

// ShownName is what lists show of a job: its name, else that of its program.
func (s JobSpec) ShownName() string { return cmp.Or(s.Name, s.Program.ScriptName()) }

// script is the script or module that arguments of Python name; empty where they
// name none.
func script(args []string) string {
	for i, word := range args {
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch {
		case word == "--":
			return fileName(next)
		case word == "-" || !strings.HasPrefix(word, "-"):
			return fileName(word)
		case strings.HasPrefix(word, "--"):
			continue
		}
		// Letters that take no value can stand before one that does: -um module.
		at := strings.IndexAny(word, "cmWX")
		switch {
		case at < 0:
		case word[at] == 'c':
			return ""
		case word[at] == 'm' && word[at+1:] != "":
			return word[at+1:]
		case word[at] == 'm':
			return next
		case word[at+1:] == "": // the value is the next word
			return script(args[min(i+2, len(args)):])
		}
	}
	return ""
}

// fileName is a path without folders; empty for what is none.
func fileName(word string) string {
	if word == "" || word == "-" {
		return ""
	}
	return path.Base(word)
}
