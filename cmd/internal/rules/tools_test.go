package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// mlxFolder is where the build finds MLX.
const mlxFolder = "build/mlx/current"

// finding matches what Go tools write about a place: file:line:column: text.
var finding = regexp.MustCompile(`^(?:vet: )?(?:\./)?([^\s:]+):(\d+)(?::\d+)?: (.+)$`)

// checkVet runs go vet on every package that builds here.
func checkVet(t *Tree) ([]Problem, error) {
	return t.goTool("vet", "./...")
}

// checkStaticcheck runs the staticcheck that go.mod pins, with its own choice of
// checks.
func checkStaticcheck(t *Tree) ([]Problem, error) {
	return t.goTool("tool", "staticcheck", "./...")
}

// goTool runs the go command and turns what it says into problems.
func (t *Tree) goTool(args ...string) ([]Problem, error) {
	if p := t.mlxMissing(); p != nil {
		return p, nil
	}
	// With a collector of garbage such a tool takes half as long again.
	_, err := command(t.root, []string{"GOGC=off", "GOMEMLIMIT=3GiB"}, "go", args...)
	if err == nil {
		return nil, nil
	}
	return findings("go "+strings.Join(args, " "), err.Error()), nil
}

// mlxMissing says what to do where the packages that bind MLX cannot compile.
func (t *Tree) mlxMissing() []Problem {
	if !t.hasGo("mlxbridge") || t.has(mlxFolder) {
		return nil
	}
	return []Problem{{File: mlxFolder, What: "is missing, so nothing that binds MLX compiles", Remedy: "run make deps"}}
}

// findings reads the output of a tool that failed. Output that names no place is
// one problem as a whole, so that no failure is lost.
func findings(tool, output string) []Problem {
	var out []Problem
	for l := range strings.Lines(output) {
		m := finding.FindStringSubmatch(strings.TrimRight(l, "\r\n"))
		if m == nil {
			continue
		}
		no, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		out = append(out, Problem{File: m[1], Line: no, What: m[3], Remedy: "mend it; seen by " + tool})
	}
	if len(out) == 0 {
		out = append(out, Problem{What: strings.TrimSpace(output), Remedy: "make " + tool + " succeed"})
	}
	return out
}

// checkTidy compares go.mod and go.sum with what the packages import.
func checkTidy(t *Tree) ([]Problem, error) {
	t.has("go.sum") // asked for here, so that a cached result of the test ends when it changes
	if _, err := command(t.root, nil, "go", "mod", "tidy", "-diff"); err != nil {
		return []Problem{{File: "go.mod", What: err.Error(), Remedy: "run go mod tidy"}}, nil
	}
	return nil, nil
}

func TestFindings(t *testing.T) {
	is := is.New(t)
	out := findings("go vet", "go vet ./...: exit status 1\n# fulmen/x\nvet: x/y.go:3:2: undefined: Z\n./main.go:10: unreachable code\n")
	is.Equal(places(out), []string{"main.go:10", "x/y.go:3"})
	is.Equal(out[0].What, "undefined: Z")

	whole := findings("go vet", "go: no such tool\n")
	is.Equal(len(whole), 1) // a failure that names no place is not lost
	is.Equal(whole[0].What, "go: no such tool")
}

func TestMissingMLXSaysWhatToDo(t *testing.T) {
	is := is.New(t)
	files := map[string]string{"mlxbridge/x.go": "package mlxbridge\n"}
	problems, err := checkVet(treeOf(t, files))
	is.NoErr(err)
	is.Equal(places(problems), []string{"build/mlx/current:0"})
	is.Equal(problems[0].Remedy, "run make deps")
}

// TestToolsOnASmallModule runs the tools for real on a module with one fault for
// each.
func TestToolsOnASmallModule(t *testing.T) {
	write := func(t *testing.T, files map[string]string) *Tree {
		dir := t.TempDir()
		for name, text := range files {
			to := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		tree, err := newTree(os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		tree.root = dir
		return tree
	}
	const mod = "module small\n\ngo 1.26.0\n"
	tests := []struct {
		name  string
		check func(*Tree) ([]Problem, error)
		files map[string]string
		want  []string
	}{
		{"vet", checkVet, map[string]string{
			"go.mod": mod, "a.go": "package a\n\nimport \"fmt\"\n\nfunc f() { fmt.Printf(\"%d\", \"x\") }\n",
		}, []string{"a.go:5"}},
		{"vet is content", checkVet, map[string]string{"go.mod": mod, "a.go": "package a\n"}, nil},
		{"other platforms", checkPlatforms, map[string]string{
			"go.mod":      "module fulmen\n\ngo 1.26.0\n",
			"a.go":        "package a\n\nvar x int\n",
			"a_darwin.go": "package a\n\nvar y = x + \"\"\n",
			"a_linux.go":  "package a\n\nvar z = x + \"\"\n",
		}, []string{map[string]string{"linux": "a_darwin.go:3", "darwin": "a_linux.go:3"}[runtime.GOOS]}},
		{"files that no check sees", builtNowhere, map[string]string{
			"go.mod": mod, "a.go": "package a\n", "b_darwin.go": "package a\n", "c_other.go": "//go:build !linux && !(darwin && cgo)\n\npackage a\n",
			"d.go": "//go:build linux && darwinsim\n\npackage a\n", "e.go": "//go:build objc\n\npackage a\n", "f_windows.go": "package a\n",
			"g.go": "//go:build darwin && linux\n\npackage a\n",
		}, []string{"e.go:0", "f_windows.go:0", "g.go:0"}},
		{"tidy", checkTidy, map[string]string{
			"go.mod": mod + "\nrequire small/b v0.0.0\n\nreplace small/b => ./b\n", "a.go": "package a\n", "b/go.mod": "module small/b\n",
		}, []string{"go.mod:0"}},
		{"generate", checkGenerate, map[string]string{
			"go.mod": mod, "a.go": "package a\n\n//go:generate go run ./gen\n", "out.txt": "one\ntwo\n",
			"gen/main.go": "package main\n\nimport \"os\"\n\nfunc main() { _ = os.WriteFile(\"out.txt\", []byte(\"one\\n2\\n\"), 0o644) }\n",
		}, []string{"out.txt:2"}},
		{"workflows", func(t *Tree) ([]Problem, error) {
			here, err := findTree() // the tool is in this repository's go.mod
			if err != nil {
				return nil, err
			}
			var paths []string
			for _, name := range t.files {
				if isWorkflow(name) {
					paths = append(paths, filepath.Join(t.root, name))
				}
			}
			found, err := here.goTool(append([]string{"tool", "actionlint", "-no-color", "-oneline", "-shellcheck=", "-pyflakes="}, paths...)...)
			for i := range found {
				found[i].File = filepath.Base(found[i].File)
			}
			return found, err
		}, map[string]string{
			".github/workflows/a.yml": "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: echo ${{ matrix.os }}\n      - rum: x\n",
			".github/workflows/b.yml": "on: push\njobs:\n  b:\n    runs-on: macos-26\n    needs: gone\n    steps:\n      - run: make\n",
			".github/workflows/c.yml": "on: push\njobs:\n  c:\n    runs-on: macos-26\n    steps:\n      - run: make\n",
		}, []string{"a.yml:6", "a.yml:7", "b.yml:3"}},
		{"a generator that fails", checkGenerate, map[string]string{
			"go.mod": mod, "a.go": "package a\n\n//go:generate go run ./gone\n",
		}, []string{"a.go:3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			tree := write(t, tt.files)
			problems, err := tt.check(tree)
			is.NoErr(err)
			is.Equal(places(problems), tt.want)
			after, err := newTree(os.DirFS(tree.root))
			is.NoErr(err)
			is.Equal(after.files, tree.files) // a check leaves the repository as it is
		})
	}
}
