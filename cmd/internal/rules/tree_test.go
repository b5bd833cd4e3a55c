package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// Tree is the repository's own files, without build output and what .gitignore
// names by folder.
type Tree struct {
	fsys  fs.FS
	root  string
	files []string
	// parsed gives its Go files.
	parsed func() ([]source, error)
}

// hidden lists the dot folders that belong to the repository.
var hidden = map[string]bool{".github": true, ".ci": true}

// findTree opens the repository around the working directory: the nearest
// folder upwards that has a go.mod.
func findTree() (*Tree, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			return nil, errors.New("no go.mod in the working directory or above it")
		}
		dir = up
	}
	t, err := newTree(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	t.root = dir
	return t, nil
}

// newTree lists the files of fsys.
func newTree(fsys fs.FS) (*Tree, error) {
	t := &Tree{fsys: fsys}
	t.parsed = sync.OnceValues(t.parse)
	ignored, err := ignoredFolders(fsys)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			dot := strings.HasPrefix(base, ".") && name != "." && !hidden[base]
			if dot || ignored[name] || base == "node_modules" || base == "__pycache__" {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() && base != ".git" { // a file in a second work tree
			t.files = append(t.files, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the files of the repository: %w", err)
	}
	return t, nil
}

// ignoredFolders gives the folders that .gitignore names from the root: lines of
// the form /name/. Patterns of other forms match single files, which no rule
// minds.
func ignoredFolders(fsys fs.FS) (map[string]bool, error) {
	text, err := fs.ReadFile(fsys, ".gitignore")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	folders := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if len(line) > 2 && strings.HasPrefix(line, "/") && strings.HasSuffix(line, "/") {
			folders[strings.Trim(line, "/")] = true
		}
	}
	return folders, nil
}

// has reports whether the repository has the file name.
func (t *Tree) has(name string) bool {
	_, err := fs.Stat(t.fsys, name)
	return err == nil
}

// hasGo reports whether dir holds a Go file.
func (t *Tree) hasGo(dir string) bool {
	for _, f := range t.files {
		if path.Dir(f) == dir && path.Ext(f) == ".go" {
			return true
		}
	}
	return false
}

// read gives the content of name.
func (t *Tree) read(name string) ([]byte, error) {
	return fs.ReadFile(t.fsys, name)
}

// line is one line of a text file.
type line struct {
	no   int
	text string
}

// lines gives the lines of name without their ends, or none for a binary file:
// one with a zero byte in its first 8000 bytes.
func (t *Tree) lines(name string) ([]line, error) {
	text, err := t.read(name)
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
		return nil, nil
	}
	var all []line
	for l := range strings.Lines(string(text)) {
		all = append(all, line{no: len(all) + 1, text: strings.TrimRight(l, "\r\n")})
	}
	return all, nil
}

// isTestdata reports whether name lies in a folder that the go command leaves
// out of packages.
func isTestdata(name string) bool {
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if part == "testdata" || strings.HasPrefix(part, "_") {
			return true
		}
	}
	return false
}
