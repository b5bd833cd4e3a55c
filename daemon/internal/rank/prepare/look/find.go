package look

import (
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
		f.a.problem(api.ReasonInterpreterMissing, path, "Name a python3 with --python.", err.Error()+".")
		return
	}
	python, asked, err := askPython(f.Request, path)
	f.a.Started = asked
	if err != nil {
		f.a.problem(api.ReasonInterpreterMissing, path, "Name another with --python.", sentence(err.Error())+".")
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
		f.a.problem(gone, path, "Install Python there, or name another with --python.",
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
	if found == nil {
		found = syscall.ENOENT
	}
	return "", found
}
