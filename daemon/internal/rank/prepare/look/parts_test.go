package look

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestDistVersions(t *testing.T) {
	is := is.New(t)
	root := tree(t, map[string]string{
		"first/mlx-0.32.4.dist-info/METADATA":     metadata("0.32.4+cpu"),
		"first/mlx_lm-0.30.0.dist-info/RECORD":    "",
		"first/mlx_metal-9.dist-info/METADATA":    metadata("9"),
		"first/numpy-2.0-py3.11.egg-info/":        "",
		"second/mlx-0.1.dist-info/METADATA":       metadata("0.1"),
		"second/Mlx.Data-0.2.dist-info/METADATA":  metadata("0.2"),
		"second/old.egg-info/PKG-INFO":            metadata("7"),
		"second/torn-1.0.dist-info/":              "",
		"second/torn-1.1.dist-info/METADATA":      metadata("1.1"),
		"second/steer-1.dist-info/METADATA":       "Version: 1\x1b[2J\n",
		"second/mlx/__init__.py":                  "raise SystemExit('imported')",
		"zip":                                     "not a folder",
		"second/none.dist-info/METADATA":          "Name: none\n\nVersion: 1\n",
		"second/empty_header.dist-info/METADATA":  "",
		"second/ignored-1.dist-info.tmp/METADATA": metadata("1"),
	})
	got := distVersions([]string{root + "/zip", root + "/missing", root + "/first", root + "/second"},
		[]string{"mlx", "mlx-lm", "numpy", "mlx_data", "old", "torn", "steer", "none", "absent", "ignored"})
	is.Equal(got, map[string]string{
		"mlx": "0.32.4+cpu", "mlx-lm": "0.30.0", "numpy": "2.0", "mlx_data": "0.2", "old": "7", "torn": "1.1", "steer": "1 [2J",
	})
}

func TestFolders(t *testing.T) {
	is := is.New(t)
	p := Python{Folders: []string{"/lib"}, UserFolder: "/home/ada/.local/lib"}
	r := Request{Home: "/home/ada", Directory: "/project", Env: []string{"PYTHONPATH=src:/opt/x:"}}
	is.Equal(folders(r, p), []string{"/project/src", "/opt/x", "/home/ada/.local/lib", "/lib"})
	r.Env = []string{"PYTHONNOUSERSITE=1"}
	is.Equal(folders(r, p), []string{"/lib"})
}

func TestShebang(t *testing.T) {
	is := is.New(t)
	for start, want := range map[string][2]string{
		"":                                       {},
		"\x7fELF":                                {},
		"#!":                                     {},
		"#!/bin/sh\nexit":                        {"/bin/sh", ""},
		"#! /opt/py/bin/python3 -u\n":            {"/opt/py/bin/python3", ""},
		"#!/usr/bin/env python3\n":               {"/usr/bin/env", "python3"},
		"#!/usr/bin/env -S A=1 python3 -u":       {"/usr/bin/env", "python3"},
		"#!/usr/bin/env\n":                       {"/usr/bin/env", ""},
		"#!/bin/sh\n'''exec' /p \"$0\" \"$@\"\n": {"/bin/sh", ""},
	} {
		path, name := shebang([]byte(start))
		is.Equal([2]string{path, name}, want) // start
	}
	is.Equal(wrapped([]byte("#!/bin/sh\n'''exec' \"/a b/python\" \"$0\" \"$@\"\n' '''\n")), "/a b/python")
	is.Equal(wrapped([]byte("#!/bin/sh\n'''exec' /a/python \"$0\" \"$@\"\n' '''\n")), "/a/python")
	is.Equal(wrapped([]byte("#!/bin/sh\nexec /a/python\n")), "")
}

// TestPythonAnswers asks the interpreter of this machine, which must find itself
// without importing a package and in spite of what start-up files print.
func TestPythonAnswers(t *testing.T) {
	is := is.New(t)
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on this machine")
	}
	want, err := exec.Command(path, "-c", "import platform; print(platform.python_version())").Output()
	is.NoErr(err)
	p, err := askPython(Request{Home: "/", AccountEnv: os.Environ()}, path)
	is.NoErr(err)
	is.Equal(p.Version, strings.TrimSpace(string(want)))
	is.True(len(p.Folders) > 1)
	for _, f := range p.Folders {
		is.True(strings.HasPrefix(f, "/"))
	}
}

func TestParsePython(t *testing.T) {
	is := is.New(t)
	p, err := parsePython("noise" + askMark + "3.13.0t\x001\x00/u\x00/a\x00\x00rel\x00/b" + askMark + "more")
	is.NoErr(err)
	is.Equal(p, Python{Version: "3.13.0t", Folders: []string{"/a", "/b"}, UserFolder: "/u"})
	p, err = parsePython(askMark + "3.13.0\x000\x00/u\x00/a" + askMark)
	is.NoErr(err)
	is.Equal(p.UserFolder, "") // a virtual environment
	for _, out := range []string{"", "Python 2.7.18", askMark, askMark + "3\x001" + askMark, askMark + "3\x001\x00/u\x00"} {
		_, err := parsePython(out)
		is.True(err != nil)
	}
}

func TestCleanEnvironment(t *testing.T) {
	is := is.New(t)
	is.Equal(cleanEnvironment([]string{
		"PATH=/bin", "BASH_FUNC_f%%=() { :; }", "SHLVL=1", "_=/x", "PWD=/", "TERM=dumb", "A=1", "A=2\nB", "1X=", "=C", "none", "_Z=",
	}), []string{"A=2\nB", "PATH=/bin", "_Z="})
}

func TestPrivacyRemedy(t *testing.T) {
	is := is.New(t)
	for path, pane := range map[string]string{
		"/Users/ada/Documents":    "Files & Folders",
		"/Users/ada/Desktop/x":    "Files & Folders",
		"/Volumes/disk/x":         "Files & Folders",
		"/Users/ada/Documentsx":   "Full Disk Access",
		"/Users/bob/Downloads":    "Full Disk Access",
		"/Users/ada/Library/Mail": "Full Disk Access",
	} {
		is.True(strings.Contains(privacyRemedy("/Users/ada", path), ", "+pane+","))
	}
}

func TestDigest(t *testing.T) {
	is := is.New(t)
	root := tree(t, map[string]string{"req.txt": "mlx", "folder/a": "1"})
	r := Request{Home: root, Prepare: []string{"uv", "sync"}, PrepareInputs: []string{"req.txt", "gone", "folder"}}
	seen := map[string]bool{}
	next := func() {
		t.Helper()
		d := digest(r)
		is.Equal(d, digest(r))
		is.True(!seen[d]) // what it depends on changed
		seen[d] = true
	}
	next()
	must(t, os.WriteFile(root+"/req.txt", []byte("mlx-lm"), 0o644))
	next()
	must(t, os.WriteFile(root+"/gone", nil, 0o644))
	next()
	must(t, os.WriteFile(root+"/folder/b", nil, 0o644))
	next()
	r.Prepare = []string{"uv sync"}
	next()
}
