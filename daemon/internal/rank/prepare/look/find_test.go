package look

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// system is a machine in a folder.
var system = map[string]string{
	"usr/bin/python3":            fakePython("3.9.6", "1", "usr/lib"),
	"usr/bin/tool":               "#!/bin/sh\n",
	"usr/bin/plain":              "no right to execute",
	"usr/bin/both.py":            "#!/bin/sh\n",
	"usr/bin/generate":           "#!/usr/bin/env -S python3 -u\n",
	"venv/pyvenv.cfg":            "version = 3.12.1\n",
	"venv/bin/python":            fakePython("3.12.1", "0", "venv/lib"),
	"venv/bin/generate":          "#!ROOT/venv/bin/python\n",
	"venv/bin/long":              "#!/bin/sh\n'''exec' \"ROOT/venv/bin/python\" \"$0\" \"$@\"\n' '''\n",
	"conda/conda-meta/":          "",
	"conda/bin/python3":          fakePython("3.11.0", "1", "conda/lib"),
	"work/train.py":              "print(1)\n",
	"work/train.sh":              "#!/bin/sh\n",
	"work/notes":                 "text\n",
	"work/broken":                "#!/nowhere/python\n",
	"work/lost":                  "#!/usr/bin/env ruby9\n",
	"work/.venv":                 "-> ROOT/venv",
	"venv/lib/mlx-1.dist-info/":  "",
	"usr/lib/mlx_lm-2.dist-info": "",
}

// TestFind is how a command is found. ROOT stands for the machine's folder.
func TestFind(t *testing.T) {
	root := tree(t, system)
	for _, test := range []struct {
		name        string
		command     string
		interpreter string
		environment string
		want        string // program and arguments
		python      string // the interpreter's version
		reason      api.Reason
		reports     string
		advice      []string // what the remedy names
	}{
		{name: "python3", command: "python3 train.py --epochs 3", want: "ROOT/usr/bin/python3 train.py --epochs 3", python: "3.9.6"},
		{name: "only python3 is there", command: "python -u train.py", want: "ROOT/usr/bin/python3 -u train.py", python: "3.9.6"},
		{name: "a script alone", command: "train.py --x", want: "ROOT/usr/bin/python3 train.py --x", python: "3.9.6"},
		{name: "a script by its path", command: "ROOT/work/train.py", want: "ROOT/usr/bin/python3 ROOT/work/train.py", python: "3.9.6"},
		{name: "a script in an environment", command: "train.py", environment: ".venv", want: "ROOT/work/.venv/bin/python train.py", python: "3.12.1"},
		{name: "a command called .py", command: "both.py x", want: "ROOT/usr/bin/both.py x"},
		{name: "a module", command: "python3 -m mlx_lm.generate", want: "ROOT/usr/bin/python3 -m mlx_lm.generate", python: "3.9.6"},
		{name: "the environment's first", command: "python train.py", environment: "ROOT/venv", want: "ROOT/venv/bin/python train.py", python: "3.12.1"},
		{name: "conda's, under its other name", command: "python train.py", environment: "ROOT/conda", want: "ROOT/conda/bin/python3 train.py", python: "3.11.0"},
		{name: "a program in the directory", command: "./train.sh a", want: "ROOT/work/train.sh a"},
		{name: "a program in PATH", command: "tool a", want: "ROOT/usr/bin/tool a"},
		{name: "a shell script that may use the environment", command: "./train.sh", environment: "ROOT/venv", want: "ROOT/work/train.sh", python: "3.12.1"},
		{name: "a Python program of the environment", command: "generate -p x", environment: "ROOT/venv", want: "ROOT/venv/bin/generate -p x", python: "3.12.1"},
		{name: "one with a long first line", command: "long", environment: "ROOT/venv", want: "ROOT/venv/bin/long", python: "3.12.1"},
		{name: "one that asks env", command: "generate", want: "ROOT/usr/bin/generate", python: "3.9.6"},
		{name: "a named interpreter", command: "train.py", interpreter: "ROOT/venv/bin/python", want: "ROOT/venv/bin/python train.py", python: "3.12.1"},
		{name: "it takes the place of python", command: "python3 train.py", interpreter: "../venv/bin/python", want: "ROOT/venv/bin/python train.py", python: "3.12.1"},
		{name: "its own options", command: "-m mlx_lm", interpreter: "python3", want: "ROOT/usr/bin/python3 -m mlx_lm", python: "3.9.6"},
		{name: "and a command in PATH", command: "generate", interpreter: "ROOT/venv/bin/python", want: "ROOT/venv/bin/python ROOT/usr/bin/generate", python: "3.12.1"},

		{name: "no script", command: "python3 gone.py", reason: api.ReasonProgramMissing, reports: "ROOT/work/gone.py is not there."},
		{name: "no script for a module's sake", command: "gone.py", reason: api.ReasonProgramMissing, reports: "ROOT/work/gone.py is not there."},
		{name: "no command", command: "gone", reason: api.ReasonProgramMissing, reports: "There is no gone in ada's PATH, ROOT/usr/bin:bin."},
		{name: "a command in the directory", command: "train.sh", reason: api.ReasonProgramMissing, reports: "There is no train.sh in ada's PATH, ROOT/usr/bin:bin."},
		{name: "no interpreter", command: "python9 x", reason: api.ReasonInterpreterMissing, reports: "There is no python9 in ada's PATH, ROOT/usr/bin:bin.", advice: []string{"--python", "~/.zshrc", "~/.zprofile"}},
		{name: "no named interpreter", command: "train.py", interpreter: "ROOT/no/python", reason: api.ReasonInterpreterMissing, reports: "ROOT/no/python is not there."},
		{name: "not executable", command: "./notes", reason: api.ReasonProgramNotExecutable, reports: "ada cannot execute ROOT/work/notes: it may not be executed."},
		{name: "not executable in PATH", command: "plain", reason: api.ReasonProgramNotExecutable, reports: "ada cannot execute ROOT/usr/bin/plain: it may not be executed."},
		{name: "a folder", command: "../work", reason: api.ReasonProgramNotExecutable, reports: "ada cannot execute ROOT/work: it is a folder."},
		{name: "the first line leads nowhere", command: "./broken", reason: api.ReasonInterpreterMissing, reports: "/nowhere/python is not there."},
		{name: "env finds nothing", command: "./lost", reason: api.ReasonInterpreterMissing, reports: "There is no ruby9 in ada's PATH, ROOT/usr/bin:bin."},
		{name: "no environment", command: "train.py", environment: "none", reason: api.ReasonInterpreterMissing, reports: "There is no Python environment at ROOT/work/none."},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			at := func(s string) string { return strings.ReplaceAll(s, "ROOT", root) }
			a := find(Request{
				Op: OpFind, DeadlineS: 5, Account: "ada", Home: root, Directory: root + "/work",
				Command: strings.Fields(at(test.command)), Interpreter: at(test.interpreter), Environment: at(test.environment),
				Env: []string{"PATH=" + at("ROOT/usr/bin:bin")}, Packages: []string{"mlx", "mlx_lm"},
			})
			if test.reason != "" {
				is.Equal(len(a.Problems), 1)
				is.Equal(a.Problems[0].Reason, test.reason)
				is.Equal(a.Problems[0].Message, at(test.reports))
				is.True(a.Problems[0].Remedy != "")
				for _, word := range test.advice {
					is.True(strings.Contains(a.Problems[0].Remedy, word))
				}
				return
			}
			is.Equal(len(a.Problems), 0)
			is.Equal(a.Program+" "+strings.Join(a.Args, " "), strings.TrimSpace(at(test.want))+trailing(a.Args))
			is.Equal(a.Versions["python"], test.python)
			is.Equal(a.Directory, root+"/work")
			is.True(a.DiskFreeBytes != nil && *a.DiskFreeBytes > 0)
		})
	}
}

// trailing is the space that a program without arguments is left with.
func trailing(args []string) string {
	if len(args) == 0 {
		return " "
	}
	return ""
}

// A spec may name any file; a look executes what leads to a Python, and nothing else.
func TestOnlyAPythonIsAsked(t *testing.T) {
	python := fakePython("3.12.1", "1")
	root := tree(t, map[string]string{
		"opt/python3.12":      python,
		"opt/python3.13t":     python,
		"opt/make":            python,
		"opt/python3-config":  python,
		"opt/other":           "-> ROOT/opt/python3.12",
		"opt/python3":         "-> ROOT/opt/other",
		"opt/python":          "-> ROOT/opt/make",
		"venv/pyvenv.cfg":     "",
		"venv/bin/python":     "-> ROOT/opt/make",
		"venv/bin/pip":        "-> ROOT/opt/make",
		"conda/conda-meta/":   "",
		"conda/bin/python3":   "-> ROOT/opt/make",
		"prefix/bin/python":   "-> ROOT/opt/make",
		"prefix/bin/generate": "#!ROOT/prefix/bin/python\n",
		"shims/python":        "-> ROOT/opt/make",
		"shims/make":          "-> ROOT/opt/make",
		"work/train.py":       "",
		"work/train.sh":       "#!/bin/sh\n",
	})
	at := func(s string) string { return strings.ReplaceAll(s, "ROOT", root) }
	for _, test := range []struct {
		name, command, interpreter, environment string
		refused                                 string // what the problem says
	}{
		{name: "a Python", interpreter: "ROOT/opt/python3.12"},
		{name: "without the global lock", interpreter: "ROOT/opt/python3.13t"},
		{name: "a link to a link to one", interpreter: "ROOT/opt/python3"},
		{name: "one under another name", interpreter: "ROOT/opt/other"},
		{name: "a venv's", interpreter: "ROOT/venv/bin/python"},
		{name: "a venv", environment: "ROOT/venv"},
		{name: "a conda environment", environment: "ROOT/conda"},
		{name: "a version manager's in PATH", command: "python train.py"},
		{name: "its path", interpreter: "ROOT/shims/python"},

		{name: "another program", interpreter: "ROOT/opt/make", refused: "ROOT/opt/make is not a Python interpreter."},
		{name: "before a program", command: "./train.sh", interpreter: "ROOT/opt/make", refused: "ROOT/opt/make is not a Python interpreter."},
		{name: "almost its name", interpreter: "ROOT/opt/python3-config", refused: "ROOT/opt/python3-config is not a Python interpreter."},
		{name: "a link", interpreter: "ROOT/opt/python", refused: "ROOT/opt/python is not a Python interpreter: it leads to ROOT/opt/make."},
		{name: "a link as the command", command: "../opt/python train.py", refused: "ROOT/opt/python is not a Python interpreter: it leads to ROOT/opt/make."},
		{name: "another program of a venv", interpreter: "ROOT/venv/bin/pip", refused: "ROOT/venv/bin/pip is not a Python interpreter: it leads to ROOT/opt/make."},
		{name: "a folder that is no environment", environment: "ROOT/prefix", refused: "ROOT/prefix/bin/python is not a Python interpreter: it leads to ROOT/opt/make."},
		{name: "for a shell script", command: "./train.sh", environment: "ROOT/prefix", refused: "ROOT/prefix/bin/python is not a Python interpreter: it leads to ROOT/opt/make."},
		{name: "by a first line", command: "../prefix/bin/generate", refused: "ROOT/prefix/bin/python is not a Python interpreter: it leads to ROOT/opt/make."},
		{name: "another program in PATH", interpreter: "make", refused: "ROOT/shims/make is not a Python interpreter: it leads to ROOT/opt/make."},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			must(t, os.RemoveAll(root+"/asked"))
			command := test.command
			if command == "" {
				command = "train.py"
			}
			a := find(Request{
				Op: OpFind, DeadlineS: 5, Account: "ada", Home: root, Directory: root + "/work", Env: []string{"PATH=" + root + "/shims"},
				Command: strings.Fields(command), Interpreter: at(test.interpreter), Environment: at(test.environment),
			})
			is.Equal(isFile(root+"/asked"), test.refused == "")
			if test.refused == "" {
				is.Equal(len(a.Problems), 0)
				is.Equal(a.Versions["python"], "3.12.1")
				return
			}
			is.Equal(len(a.Problems), 1)
			is.Equal(a.Problems[0].Reason, api.ReasonInterpreterMissing)
			is.Equal(a.Problems[0].Message, at(test.refused))
			is.Equal(a.Problems[0].Remedy, "Name a python3 with --python (program.interpreter in a file).")
		})
	}
}

func TestFindBuiltin(t *testing.T) {
	is := is.New(t)
	root := tree(t, map[string]string{"rank": "binary"})
	r := Request{Op: OpFind, DeadlineS: 5, Home: root, Builtin: root + "/rank", Command: []string{"allreduce", "-max-bytes", "1"}}
	is.NoErr(r.Check())
	a := find(r)
	is.Equal(len(a.Problems), 0)
	is.Equal(a.Program, root+"/rank")
	is.Equal(a.Args, []string{"allreduce", "-max-bytes", "1"})
	is.Equal(a.Directory, root)
	r.Builtin += "s"
	is.Equal(find(r).Problems[0].Reason, api.ReasonProgramMissing)
}

func TestFindDirectory(t *testing.T) {
	is := is.New(t)
	root := tree(t, map[string]string{"file": "", "tool": "binary"})
	for dir, reports := range map[string]string{
		root + "/none":   "The folder " + root + "/none is not there.",
		root + "/file":   root + "/file is not a folder.",
		root + "/file/x": "The folder " + root + "/file/x is not there.",
	} {
		a := find(Request{Op: OpFind, Home: root, Directory: dir, Command: []string{root + "/tool"}})
		is.Equal(len(a.Problems), 1) // and the program is found all the same
		is.Equal(a.Problems[0].Reason, api.ReasonDirectoryMissing)
		is.Equal(a.Problems[0].Message, reports)
		is.Equal(a.Program, root+"/tool")
	}
}

// An interpreter is asked once, and again when it or its environment changes.
func TestAnInterpreterIsAskedOnce(t *testing.T) {
	is := is.New(t)
	// A script could choose among several: it is asked each time.
	root := tree(t, system)
	r := Request{Op: OpFind, Home: root, Directory: root + "/work", Command: []string{root + "/venv/bin/python", "train.py"}}
	a := find(r)
	is.Equal(a.Python.Stamp, "")
	r.Pythons = []Python{*a.Python}
	find(r)
	asked, err := os.ReadFile(root + "/asked")
	is.NoErr(err)
	is.Equal(string(asked), "x\nx\n")

	must(t, os.WriteFile(root+"/venv/bin/python", []byte("\x7fELF"), 0o755))
	stamp := pythonStamp(root + "/venv/bin/python")
	is.True(stamp != "")
	known := Python{Path: root + "/venv/bin/python", Stamp: stamp, Version: "3.12.9", Folders: []string{root + "/venv/lib"}}
	known.MLX, known.MLXStamp = &api.ProgramMLX{Missing: true}, mlxStamp(known)
	r.Pythons = []Python{known}
	r.Packages = []string{"mlx"}
	a = find(r)
	is.Equal(a.Versions, map[string]string{"python": "3.12.9", "mlx": "1"})
	is.True(a.MLX.Missing)
	must(t, os.Mkdir(root+"/venv/lib/other", 0o755))
	a = find(r) // a package came: it is asked whether that is MLX
	is.Equal(a.Problems[0].Reason, api.ReasonInterpreterMissing)
	must(t, os.Remove(root+"/venv/lib/other"))
	known.MLXStamp = mlxStamp(known)
	r.Pythons = []Python{known}
	is.Equal(len(find(r).Problems), 0)
	must(t, os.WriteFile(root+"/venv/pyvenv.cfg", []byte("version = 3.13.0\n"), 0o644))
	is.True(pythonStamp(root+"/venv/bin/python") != stamp)
	a = find(r) // asked now, and what is there does not run
	is.Equal(a.Problems[0].Reason, api.ReasonInterpreterMissing)
}

func TestStaleShellFiles(t *testing.T) {
	is := is.New(t)
	root := tree(t, map[string]string{"tool": "binary", ".profile": "a"})
	r := Request{Op: OpFind, Home: root, Command: []string{root + "/tool"}, Stamp: ShellStamp(root)}
	is.Equal(find(r).Program, root+"/tool")
	must(t, os.WriteFile(filepath.Join(root, ".profile"), []byte("other"), 0o644))
	a := find(r)
	is.Equal(a, Answer{Stale: true, Stamp: ShellStamp(root)})
}

func TestScriptOf(t *testing.T) {
	is := is.New(t)
	for args, want := range map[string]string{
		"":                          "",
		"train.py a":                "train.py",
		"-u train.py":               "train.py",
		"-uB -W ignore train.py":    "train.py",
		"-Wignore train.py":         "train.py",
		"-X dev -OO train.py":       "train.py",
		"-BX dev train.py":          "train.py",
		"-m mlx_lm a.py":            "",
		"-um mlx_lm a.py":           "",
		"-c pass a.py":              "",
		"-":                         "",
		"-- -odd.py":                "-odd.py",
		"--check-hash-based-pycs x": "",
		"--version":                 "",
	} {
		is.Equal(scriptOf(strings.Fields(args)), want) // args
	}
}
