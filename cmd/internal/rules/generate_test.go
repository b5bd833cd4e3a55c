package rules

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const directive = "//go:generate "

// checkGenerate runs go generate in a copy of the repository, and wants every
// file there to come out as it is here.
func checkGenerate(t *Tree) ([]Problem, error) {
	directives, err := t.directives()
	if err != nil || len(directives) == 0 {
		return nil, err
	}
	if p := t.mlxMissing(); p != nil {
		return p, nil
	}
	copied, err := os.MkdirTemp("", "generate")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(copied)
	if err := t.copyTo(copied); err != nil {
		return nil, err
	}
	if _, err := command(copied, nil, "go", "generate", "./..."); err != nil {
		out := directives[0]
		out.What, out.Remedy = err.Error(), "make go generate ./... succeed"
		return []Problem{out}, nil
	}
	made, err := newTree(os.DirFS(copied))
	if err != nil {
		return nil, err
	}
	return stale(t, made)
}

// directives finds the lines that tell go generate what to run.
func (t *Tree) directives() ([]Problem, error) {
	var out []Problem
	for _, name := range t.goFiles() {
		lines, err := t.lines(name)
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			if strings.HasPrefix(l.text, directive) {
				out = append(out, Problem{File: name, Line: l.no})
			}
		}
	}
	return out, nil
}

// copyTo copies the repository into dir, and links its build folder there.
func (t *Tree) copyTo(dir string) error {
	for _, name := range t.files {
		text, err := t.read(name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o755); err != nil {
			return err
		}
	}
	if !t.has("build") {
		return nil
	}
	return os.Symlink(filepath.Join(t.root, "build"), filepath.Join(dir, "build"))
}

// stale lists the files that made has otherwise than t.
func stale(t, made *Tree) ([]Problem, error) {
	var out []Problem
	for _, name := range made.files {
		want, err := made.read(name)
		if err != nil {
			return nil, err
		}
		have, err := t.read(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil && bytes.Equal(have, want) {
			continue
		}
		p := Problem{File: name, What: "is not what its generator writes today", Remedy: "run make generate and commit the result"}
		if err == nil {
			p.Line = firstDifference(have, want)
		}
		out = append(out, p)
	}
	return out, nil
}
