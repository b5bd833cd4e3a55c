package look

import (
	"os"
	"strings"
	"syscall"

	"fulmen/daemon/api"
)

// findCommand decides what is executed with which arguments.
//
// An interpreter that was named takes the place of a Python that the command
// begins with, or stands before it. Without one, a .py file is run by python, a
// path is taken from the directory, and a bare name is looked for in the
// environment's programs and in PATH.
func (f *finder) findCommand() {
	first, rest := f.Command[0], f.Command[1:]
	switch {
	case f.Interpreter != "":
		path, ok := f.interpreter(f.Interpreter)
		if !ok {
			return
		}
		f.a.Interpreter, f.a.Program, f.a.Args = path, path, f.Command
		if isPython(first) {
			f.a.Args = rest
			f.checkScript(rest)
		} else if !strings.HasPrefix(first, "-") {
			f.a.Args = append([]string{f.script(first)}, rest...)
		}
	case strings.HasSuffix(first, ".py") && f.isScript(first):
		path, err := f.search("python3", "python")
		if err != nil {
			f.absent("python3", err, api.ReasonInterpreterMissing)
			return
		}
		f.a.Interpreter, f.a.Program, f.a.Args = path, path, append([]string{f.script(first)}, rest...)
	case strings.Contains(first, "/"):
		path := f.at(first)
		if err := executable(path); err != nil {
			f.cannot(path, err, reasonFor(path))
			return
		}
		f.execute(path, rest)
	default:
		path, err := f.search(alternatives(first)...)
		if err != nil {
			f.absent(first, err, reasonFor(first))
			return
		}
		f.execute(path, rest)
	}
}

// execute takes a program that is there, and looks at the interpreter that it
// is or that its first line names.
func (f *finder) execute(path string, args []string) {
	f.a.Program, f.a.Args = path, args
	if isPython(path) {
		f.a.Interpreter = path
		f.checkScript(args)
		return
	}
	start, err := readStart(path)
	if err != nil {
		return // a program may be executed without being readable
	}
	named, name := shebang(start)
	if long := wrapped(start); long != "" {
		named = long
	}
	switch {
	case named == "":
		return
	case name != "":
		found, err := f.search(name)
		if err != nil {
			f.absent(name, err, api.ReasonInterpreterMissing)
			return
		}
		named = found
	case executable(f.at(named)) != nil:
		f.cannot(f.at(named), executable(f.at(named)), api.ReasonInterpreterMissing)
		return
	}
	f.a.Interpreter = named
}

// interpreter resolves one that was named: a path, or a name.
func (f *finder) interpreter(named string) (string, bool) {
	if strings.Contains(named, "/") {
		path := f.at(named)
		err := executable(path)
		if err != nil {
			f.cannot(path, err, api.ReasonInterpreterMissing)
		}
		return path, err == nil
	}
	path, err := f.search(alternatives(named)...)
	if err != nil {
		f.absent(named, err, api.ReasonInterpreterMissing)
	}
	return path, err == nil
}

// isScript reports whether a .py file is meant as one of the directory, not as a
// command in PATH that happens to be called so.
func (f *finder) isScript(name string) bool {
	if strings.Contains(name, "/") || isFile(f.at(name)) {
		return true
	}
	_, err := f.search(name)
	return err != nil
}

// script is the script as the interpreter is to be given it: as it was written
// where it is in the directory, with its path where it is a command in PATH.
func (f *finder) script(name string) string {
	if strings.Contains(name, "/") || isFile(f.at(name)) {
		f.checkFile(name)
		return name
	}
	if path, err := f.search(name); err == nil {
		return path
	}
	f.checkFile(name)
	return name
}

// checkScript checks the script among Python's arguments.
func (f *finder) checkScript(args []string) {
	if script := scriptOf(args); script != "" {
		f.checkFile(script)
	}
}

// checkFile checks a script that an interpreter is to read.
func (f *finder) checkFile(name string) {
	path := f.at(name)
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would wait for its writer
	if err != nil {
		denied(&f.a, f.Request, path, api.ReasonProgramMissing, "", err)
		return
	}
	_ = file.Close()
}

// scriptOf is the script among the arguments of Python; "" for a module, a line
// of code, standard input, or no program at all.
func scriptOf(args []string) string {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" && i+1 < len(args) {
			return args[i+1]
		}
		if arg == "-" || arg == "--" {
			return ""
		}
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
		if strings.HasPrefix(arg, "--") {
			if arg == "--check-hash-based-pycs" {
				i++
			}
			continue
		}
		// Letters may stand together; the rest of the word, or the next one,
		// belongs to a letter that takes something.
		switch at := strings.IndexAny(arg[1:], "cmWX"); {
		case at < 0:
		case strings.ContainsRune("cm", rune(arg[1+at])):
			return ""
		case at == len(arg)-2:
			i++
		}
	}
	return ""
}

// alternatives are the names under which a command may be found: many Macs have
// a python3 and no python.
func alternatives(name string) []string {
	if name == "python" {
		return []string{"python", "python3"}
	}
	return []string{name}
}

// reasonFor says whether what is missing is an interpreter or the program.
func reasonFor(path string) api.Reason {
	if isPython(path) {
		return api.ReasonInterpreterMissing
	}
	return api.ReasonProgramMissing
}
