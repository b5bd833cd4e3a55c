package typecheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build names what is checked, and for which platform.
type Build struct {
	// Dir is a folder of the module.
	Dir string
	// GOOS and GOARCH are the platform in Go's words.
	GOOS, GOARCH string
	// Tags are further build tags.
	Tags []string
	// Patterns name the packages, as for the go command. What they import is
	// checked as far as its declarations go.
	Patterns []string
}

// unit is what the go command says of one package, or of a package built anew
// for a test.
type unit struct {
	ImportPath string
	Dir        string
	DepOnly    bool
	ForTest    string
	GoFiles    []string
	CgoFiles   []string
	ImportMap  map[string]string
	Module     *struct{ GoVersion string }
	Error      *struct{ Pos, Err string }
}

// files gives the paths of the Go files.
func (u *unit) files() []string {
	var all []string
	for _, base := range append(u.GoFiles[:len(u.GoFiles):len(u.GoFiles)], u.CgoFiles...) {
		if !filepath.IsAbs(base) {
			base = filepath.Join(u.Dir, base)
		}
		all = append(all, base)
	}
	return all
}

// testMain reports whether u is the program that the go command writes around
// the tests of a package.
func (u *unit) testMain() bool {
	return strings.HasSuffix(u.ImportPath, ".test")
}

// list gives the packages with their tests, each after what it imports.
func (b Build) list() ([]*unit, error) {
	args := []string{
		"list", "-e", "-deps", "-test", "-tags=" + strings.Join(b.Tags, ","),
		"-json=ImportPath,Dir,DepOnly,ForTest,GoFiles,CgoFiles,ImportMap,Module,Error",
	}
	cmd := exec.Command("go", append(append(args, "--"), b.Patterns...)...)
	cmd.Dir = b.Dir
	cmd.Env = append(os.Environ(), "GOOS="+b.GOOS, "GOARCH="+b.GOARCH, "CGO_ENABLED=1")
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, bytes.TrimSpace(diag.Bytes()))
	}
	var all []*unit
	for dec := json.NewDecoder(&out); ; {
		u := new(unit)
		if err := dec.Decode(u); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read what go list wrote: %w", err)
		}
		if !u.testMain() {
			all = append(all, u)
		}
	}
}
