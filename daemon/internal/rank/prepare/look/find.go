package look

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
)

// finder looks for one program.
type finder struct {
	Request
	a   Answer
	bin string // the environment's programs; empty where there is none
}

// find answers [OpFind].
func find(r Request) Answer {
	f := finder{Request: r}
	f.a.Stamp = ShellStamp(r.Home)
	if r.Stamp != "" && r.Stamp != f.a.Stamp {
		return Answer{Stale: true, Stamp: f.a.Stamp}
	}
	f.a.Directory = r.directory()
	checkDirectory(&f.a, r)
	f.findEnvironment()
	if r.Builtin != "" {
		f.a.Program, f.a.Args = r.Builtin, r.Command
		if err := executable(r.Builtin); err != nil {
			f.cannot(r.Builtin, err, api.ReasonProgramMissing)
		}
	} else {
		f.findCommand()
		f.findVersions()
	}
	if len(r.Prepare) > 0 {
		f.a.Digest = digest(r)
	}
	return f.a
}

// findEnvironment looks at the Python environment that was asked for.
func (f *finder) findEnvironment() {
	if f.Environment == "" {
		return
	}
	path := f.at(f.Environment)
	f.a.Environment, f.bin = path, filepath.Join(path, "bin")
	f.a.Kind = kindOf(path)
	err := executable(filepath.Join(f.bin, "python"))
	if missing(err) && executable(filepath.Join(f.bin, "python3")) == nil {
		err = nil
	}
	switch {
	case err == nil:
	case missing(err):
		f.a.problem(api.ReasonInterpreterMissing, path, "Create it there, for example with --prepare, or name another with --venv.",
			fmt.Sprintf("There is no Python environment at %s.", path))
	default:
		f.cannot(path, err, api.ReasonInterpreterMissing)
	}
}

// kindOf tells what a folder with a Python environment is.
func kindOf(path string) Kind {
	switch {
	case isFile(filepath.Join(path, "pyvenv.cfg")):
		return KindVenv
	case isFolder(filepath.Join(path, "conda-meta")):
		return KindConda
	}
	return KindPrefix
}

// findVersions asks the interpreter and reads the packages' metadata.
func (f *finder) findVersions() {
	path := f.a.Interpreter
	if !isPython(path) && f.bin != "" && f.Interpreter == "" {
		// A program that is no Python script may still start the environment's Python.
		path, _ = f.search("python", "python3")
	}
	if path == "" || executable(path) != nil {
		return
	}
	if f.Interpreter == "" && !isPython(path) {
		return
	}
	if err := f.checkPython(path); err != nil {
		f.a.problem(api.ReasonInterpreterMissing, path, "Name a python3 with --python (program.interpreter in a file).", err.Error()+".")
		return
	}
	python, err := askPython(f.Request, path)
	if err != nil {
		f.a.problem(api.ReasonInterpreterMissing, path, "Name another with --python (program.interpreter in a file).", sentence(err.Error())+".")
		return
	}
	f.a.Python = &python
	f.a.Versions = distVersions(folders(f.Request, python), f.Packages)
	f.a.Versions["python"] = python.Version
	if mlx := programMLX(f.Request, python); mlx != nil {
		f.a.MLX = &api.ProgramMLX{Missing: mlx.Missing, Version: f.a.Versions["mlx"], Backends: mlx.Backends}
	}
}

// cannot adds the problem of a file that cannot be executed.
func (f *finder) cannot(path string, err error, gone api.Reason) {
	if file, ok := errors.AsType[*os.PathError](err); ok && filepath.IsAbs(file.Path) {
		path, err = file.Path, file.Err
	}
	switch {
	case errors.Is(err, errPlaceholder):
		f.a.problem(gone, path, "Install Python there, or name another with --python (program.interpreter in a file).",
			fmt.Sprintf("%s cannot be used: %s.", path, err))
	case missing(err):
		f.a.problem(gone, path, "", fmt.Sprintf("%s is not there.", path))
	case errors.Is(err, syscall.EPERM):
		denied(&f.a, f.Request, path, gone, "", err)
	default:
		f.a.problem(api.ReasonProgramNotExecutable, path, fmt.Sprintf("Give %s the right to execute it.", f.Account),
			fmt.Sprintf("%s cannot execute %s: %s.", f.Account, path, plain(err)))
	}
}

// absent adds the problem of a command that is nowhere in PATH.
func (f *finder) absent(name string, err error, gone api.Reason) {
	if !errors.Is(err, syscall.ENOENT) || !missing(err) {
		f.cannot(name, err, gone)
		return
	}
	remedy := ""
	if gone == api.ReasonProgramMissing {
		remedy = "Install it there."
		if isFile(f.at(name)) {
			remedy = "Write ./" + name + " for the file in the folder."
		}
	} else if strings.HasPrefix(name, "python") {
		remedy = "Install it there, or name it with --python. Login shells do not read ~/.zshrc, where conda and pyenv put themselves: set PATH in ~/.zprofile."
	}
	where := f.variable("PATH")
	if f.bin != "" {
		where = strings.TrimSuffix(f.bin+":"+where, ":")
	}
	f.a.problem(gone, name, remedy, fmt.Sprintf("There is no %s in %s's PATH, %s.", name, f.Account, where))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

var (
	errFolder        = errors.New("it is a folder")
	errNotExecutable = errors.New("it may not be executed")
	errPlaceholder   = errors.New("it is only Apple's placeholder: the developer tools are not installed")
)

// executable says why a path cannot be executed: an error that matches ENOENT or
// ENOTDIR where nothing is there.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errFolder
	case !info.Mode().IsRegular() || unix.Access(path, unix.X_OK) != nil:
		return errNotExecutable
	case runtime.GOOS == "darwin" && filepath.Dir(path) == "/usr/bin" && isPython(path) && !developerTools():
		return errPlaceholder
	}
	return nil
}

// missing tells an error about what is not there from one about what is and cannot be used.
func missing(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errPlaceholder)
}

// developerTools reports whether /usr/bin/python3 of macOS leads anywhere. Where
// it does not, running it would put a dialog on the screen.
func developerTools() bool {
	for _, path := range []string{
		"/var/db/xcode_select_link", "/Library/Developer/CommandLineTools/usr/bin/python3", "/Applications/Xcode.app",
	} {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

// search looks for a command by its names: by any of them in the environment's
// programs, then by each along PATH. The error is the one of the first file that
// is there and cannot be executed, else ENOENT. Relative folders in PATH do not count.
func (f *finder) search(names ...string) (string, error) {
	var found error
	look := func(folders []string, name string) string {
		for _, folder := range folders {
			if !filepath.IsAbs(folder) {
				continue
			}
			path := filepath.Join(folder, name)
			err := executable(path)
			if err == nil {
				return path
			}
			if found == nil && !missing(err) && !errors.Is(err, syscall.EACCES) && !errors.Is(err, errFolder) {
				found = &os.PathError{Op: "execute", Path: path, Err: err}
			}
		}
		return ""
	}
	for _, folders := range [][]string{{f.bin}, filepath.SplitList(f.variable("PATH"))} {
		for _, name := range names {
			if path := look(folders, name); path != "" {
				return path, nil
			}
		}
	}
	return "", cmp.Or(found, error(syscall.ENOENT))
}

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
