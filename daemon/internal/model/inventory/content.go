package inventory

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"fulmen/daemon/api"
)

// What copying a model takes: its files on one side, the forms of names on the other.

// Content is a model with its files, open for reading.
type Content struct {
	// Model is what is known of it.
	Model api.Model

	files []file
	root  *os.Root
}

// Content opens a model.
func (i *Inventory) Content(sel api.ModelSelect) (*Content, error) {
	m, root, err := i.open(sel)
	if err != nil {
		return nil, err
	}
	return &Content{Model: m.Model, files: m.files, root: root}, nil
}

// Close ends the reading.
func (c *Content) Close() error { return c.root.Close() }

// Count is how many files it has.
func (c *Content) Count() int { return len(c.files) }

// File is a file's path below the model, its size, and its hash where that is known:
// SHA-256 in hex, or SHA-1 as Git names a blob.
func (c *Content) File(n int) (path string, size int64, hash string) {
	f := c.files[n]
	return f.path, f.size, f.hash
}

// ErrChanged is matched where a file is not as it was when it was listed.
var ErrChanged = errors.New("the file has changed")

// Open opens a file that is as it was listed.
func (c *Content) Open(n int) (*os.File, error) {
	f, _, err := open(c.root, c.files[n].at)
	if err != nil {
		return nil, err
	}
	if err := c.Check(n, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Check reports whether an open file is still as it was listed.
func (c *Content) Check(n int, f *os.File) error {
	info, err := f.Stat()
	if err == nil && (info.Size() != c.files[n].size || !info.ModTime().Equal(c.files[n].time)) {
		err = ErrChanged
	}
	return err
}

// HubFolder is Hugging Face's cache; empty where its path is not absolute, and so not
// looked into.
func (p Places) HubFolder() string {
	for _, r := range p.roots() {
		if r.Source == api.ModelHub {
			return r.Path
		}
	}
	return ""
}

// IsPath reports whether a path below a model is one that the inventory shows.
func IsPath(name string) bool { return isName(name) && strings.Count(name, "/") <= maxDepth }

// IsRef reports whether a text can be a branch or tag.
func IsRef(name string) bool { return isWord(name) && IsPath(name) }

// IsRevision reports whether a text can be a revision: the name of a folder, not a hidden one.
func IsRevision(name string) bool {
	return isWord(name) && !strings.ContainsAny(name, "/") && !strings.HasPrefix(name, ".")
}

// IsHash reports whether a text is a hash by which a blob is named.
func IsHash(s string) bool { return (len(s) == 64 || len(s) == 40) && hexWord.MatchString(s) }

// RepositoryFolder is the folder of a repository in Hugging Face's cache.
func RepositoryFolder(name string) (folder string, ok bool) {
	folder = hubPrefix + strings.ReplaceAll(name, "/", "--")
	back, ok := repository(folder)
	return folder, ok && back == name && filepath.IsLocal(folder)
}
