package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"fulmen/native/nativetest/testkit"
)

// systray is the path of the module that draws the menu.
const systray = "fyne.io/systray"

// errNoLibffi is the error where there is no libffi to build with.
var errNoLibffi = errors.New("libffi is not installed: apt-get install libffi-dev")

// macTree is what builds the app for macOS so that it runs on Linux: the app's own Go
// and darwinkit's over real libffi, and below them an imitation of Objective-C and of
// Apple's frameworks, in C, in testdata/objc. Its table names the classes, selectors
// and types that the app may use.
//
// The imitation ends the program where a Mac would, or would do worse: over a
// selector that a class does not have, over types that differ from Apple's, over a
// class whose framework is not linked, over a call off the main thread, over an
// object that has ended, and over a list of types that was overwritten while libffi
// uses it. The person at the screen is its standard input, and what can be seen is
// its standard output.
//
// What it cannot show: darwinkit's and systray's own Objective-C, for which
// testdata/objc/kit stands in, and whatever Apple's frameworks do besides what is
// documented. Nothing of darwinkit or systray is kept in this repository: their
// files come from the module cache, and of darwinkit's frameworks only the
// declarations that the app uses are compiled.
type macTree struct {
	root, folder, runtime string
	// shared is the same for all trees, and in the same place, so that they share
	// what the go command keeps.
	shared  string
	overlay map[string]string
	// made are the files that were written.
	made map[string]bool
}

// prepareMac makes what programs are built from: the imitation, the modules that it
// stands below, and what the app's files for macOS are called on Linux. root is
// the repository's, below whose build folder what differs lies by a name: in the
// same place each time, so that the go command compiles it once. The result of a test
// that does so ends when anything of the repository changes.
func prepareMac(ctx context.Context, root, name string) (*macTree, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	made := filepath.Join(root, "build", "macapp")
	t := &macTree{root: root, folder: filepath.Join(made, name), shared: filepath.Join(made, "shared"), runtime: filepath.Join(root, "cmd", "fulmen-app", "testdata", "objc"),
		overlay: map[string]string{}, made: map[string]bool{}}
	if _, err := ran(ctx, root, nil, "gcc", "-E", "-include", "ffi.h", "-x", "c", "/dev/null"); err != nil {
		return nil, errNoLibffi
	}
	if err := testkit.WatchInputs(root); err != nil {
		return nil, err
	}
	lock, err := testkit.Alone(made) // others prepare the same
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	// What is made here is no part of the repository's own module.
	if err := testkit.WriteInput(filepath.Join(made, "go.mod"), []byte("module macapp\n"), 0o644); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{t.library, t.modules, t.files} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return t, testkit.KeepInputs(t.shared, t.made)
}

func (t *macTree) compiler() string { return filepath.Join(t.shared, "cc") }

// libraryFile is the path of the imitation, which lies beside programs over it that run
// elsewhere.
func (t *macTree) libraryFile() string { return filepath.Join(t.shared, "libsimobjc.so") }

// includes are where the C looks for headers.
func (t *macTree) includes() []string {
	apple := filepath.Join(t.root, "native", "darwin")
	return []string{"-I" + filepath.Join(t.runtime, "include"), "-I" + t.runtime,
		"-I" + filepath.Join(apple, "apple"), "-I" + filepath.Join(apple, "simfw", "include")}
}

// library compiles the imitation, and writes the compiler that the go command
// calls: one for C on Linux, whatever it is told of macOS. Of a framework that is
// linked the program has a symbol, which sim_links looks for.
func (t *macTree) library(ctx context.Context) error {
	sources, err := filepath.Glob(filepath.Join(t.runtime, "*.c"))
	if err != nil {
		return err
	}
	fresh, err := os.MkdirTemp("", "macapp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	fresh = filepath.Join(fresh, filepath.Base(t.libraryFile()))
	args := append([]string{"-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-g", "-shared", "-fPIC", "-o", fresh}, t.includes()...)
	if _, err := ran(ctx, t.root, nil, "gcc", append(append(args, sources...), "-lffi", "-lpthread")...); err != nil {
		return err
	}
	library, err := os.ReadFile(fresh)
	if err != nil {
		return err
	}
	compiler := `#!/bin/sh
n=$#
while [ "$n" -gt 0 ]; do
	a=$1; shift; n=$((n - 1))
	case $a in
	-framework) set -- "$@" "-Wl,--defsym=sim_linked_$1=1,--export-dynamic-symbol=sim_linked_$1"; shift; n=$((n - 1)) ;;
	objective-c) set -- "$@" c ;;
	*) set -- "$@" "$a" ;;
	esac
done
exec gcc -w ` + strings.Join(t.includes(), " ") + ` "$@" -L"$SIM_FOLDER" '-Wl,-rpath,$ORIGIN' -Wl,-rpath,"$SIM_FOLDER" -lsimobjc
`
	return errors.Join(t.write(t.libraryFile(), library, 0o755), t.write(t.compiler(), []byte(compiler), 0o755))
}

// modules copies what is needed of darwinkit and systray. Objective-C that is plain
// C is compiled as that; testdata/objc/kit stands in for the rest.
func (t *macTree) modules(ctx context.Context) error {
	source := map[string]string{}
	for _, module := range []string{kit, systray} {
		out, err := ran(ctx, t.root, nil, "go", "mod", "download", "-json", module)
		if err != nil {
			return err
		}
		var got struct{ Dir string }
		if err := json.Unmarshal(out, &got); err != nil {
			return err
		}
		source[module] = got.Dir
	}
	at := source[kit]
	block, err := os.ReadFile(filepath.Join(at, "objc", "block.m"))
	if err != nil {
		return err
	}
	plain, _, found := bytes.Cut(block, []byte("void* testBlock()"))
	if !found {
		return fmt.Errorf("%s/objc/block.m has no testBlock, the one function there that is no C", at)
	}
	made := map[string]string{
		"darwinkit/objc/block.c": string(plain) + "\nvoid *testBlock() { return 0; }\n",
		"darwinkit/go.mod":       "module " + kit + "\n\ngo 1.18\n",
	}
	for to, from := range map[string]string{
		"darwinkit/objc/base.c": at + "/objc/base.m", "darwinkit/objc/class.c": at + "/objc/class.m", "darwinkit/objc/ffi/ffi.c": at + "/objc/ffi/ffi.m",
		"darwinkit/objc/kit.c": t.runtime + "/kit/objc.c", "darwinkit/dispatch/kit.c": t.runtime + "/kit/dispatch.c",
		"darwinkit/helper/action/kit.c": t.runtime + "/kit/action.c", "systray/kit.c": t.runtime + "/kit/systray.c",
		"darwinkit/objc/type_convertion.h": at + "/objc/type_convertion.h", "systray/go.mod": source[systray] + "/go.mod",
		"systray/systray.go": source[systray] + "/systray.go", "systray/systray.h": source[systray] + "/systray.h",
		"systray/systray_objc.go": source[systray] + "/systray_darwin.go",
		"go.mod":                  t.root + "/go.mod", "go.sum": t.root + "/go.sum",
	} {
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		made[to] = string(text)
	}
	made["go.mod"] += "\nreplace " + kit + " => " + t.shared + "/darwinkit\n\nreplace " + systray + " => " + t.shared + "/systray\n"
	using, err := filepath.Glob(filepath.Join(t.root, "app", "mac", "*_darwin.go"))
	if err != nil {
		return err
	}
	for _, pkg := range []string{"objc", "objc/ffi", "dispatch", "helper/action"} {
		all, err := filepath.Glob(filepath.Join(at, pkg, "*.go"))
		if err != nil {
			return err
		}
		for _, name := range all {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			made[filepath.Join("darwinkit", pkg, filepath.Base(name))] = string(text)
			using = append(using, name)
		}
	}
	shaken, err := shake(at, using)
	if err != nil {
		return err
	}
	for name, text := range shaken {
		made[filepath.Join("darwinkit", name)] = text
	}
	for name, text := range made {
		if err := t.write(filepath.Join(t.shared, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// files says by which names the app's files for macOS are built on Linux.
func (t *macTree) files(context.Context) error {
	for _, dir := range []string{"app/mac", "cmd/fulmen-app"} {
		all, err := filepath.Glob(filepath.Join(t.root, dir, "*_darwin.go"))
		if err != nil {
			return err
		}
		for _, name := range all {
			t.overlay[strings.TrimSuffix(name, "_darwin.go")+"_objc.go"] = name
		}
	}
	system := filepath.Join(t.shared, "files/system.go")
	t.overlay[filepath.Join(t.root, "app/mac/system_objc.go")] = system
	t.overlay[filepath.Join(t.root, "cmd/fulmen-app/run_linux.go")] = ""
	for _, name := range []string{"app/mac/authorization/doc.go", "app/mac/authorization/obtain.go"} {
		if err := t.change(t.shared, name, "//go:build darwin\n", ""); err != nil {
			return err
		}
	}
	return t.write(system, []byte("package mac\n\nfunc systemVersion() string { return \"26.0\" }\n"), 0o644)
}

// installIn has other folders stand in for /Applications, for /usr/bin and for
// /usr/local/bin in what is built next.
func (t *macTree) installIn(applications, tools, links string) error {
	return errors.Join(
		t.change(t.folder, "app/mac/owner.go", `applications = "/Applications"`, fmt.Sprintf("applications = %q", applications)),
		t.change(t.folder, "app/mac/install_darwin.go", `"/usr/bin/"`, fmt.Sprintf("%q", tools+"/"), `"/usr/local/bin/`, fmt.Sprintf("%q + \"/", links)),
	)
}

// change builds a file with things in it replaced, each old one by the new one after
// it. The changed file lies in a folder.
func (t *macTree) change(folder, file string, pairs ...string) error {
	name := filepath.Join(t.root, file)
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for i := 0; i < len(pairs); i += 2 {
		if strings.Count(string(text), pairs[i]) != 1 {
			return fmt.Errorf("%s has no %s, which is something else on Linux", file, pairs[i])
		}
	}
	to := filepath.Join(folder, "files", strings.ReplaceAll(file, "/", "_"))
	t.overlay[strings.Replace(name, "_darwin.go", "_objc.go", 1)] = to
	return t.write(to, []byte(strings.NewReplacer(pairs...).Replace(string(text))), 0o644)
}

func (t *macTree) write(path string, text []byte, mode os.FileMode) error {
	t.made[path] = true
	return testkit.WriteInput(path, text, mode)
}

// build builds a program of the module, and gives its path. flags are the go
// command's.
func (t *macTree) build(ctx context.Context, program string, flags ...string) (string, error) {
	overlay, err := json.Marshal(map[string]any{"Replace": t.overlay})
	if err != nil {
		return "", err
	}
	out, file := filepath.Join(t.folder, filepath.Base(program)), filepath.Join(t.folder, "overlay.json")
	if err := testkit.WriteInput(file, overlay, 0o644); err != nil {
		return "", err
	}
	args := append([]string{"build", "-modfile=" + filepath.Join(t.shared, "go.mod"), "-overlay=" + file, "-o", out}, flags...)
	_, err = ran(ctx, t.root, []string{"CC=" + t.compiler(), "SIM_FOLDER=" + t.shared, "CGO_ENABLED=1"}, "go", append(args, program)...)
	return out, err
}

func ran(ctx context.Context, dir string, env []string, program string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	var reported bytes.Buffer
	c.Stderr = &reported
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, reported.Bytes())
	}
	return out, nil
}
