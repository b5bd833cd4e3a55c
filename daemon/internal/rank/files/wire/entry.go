package wire

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of a folder.
const (
	// MaxBytes is the most that its files may hold together.
	MaxBytes = 1 << 30
	// MaxFiles is the most files, folders and links that it may have together.
	MaxFiles = 100_000
	// maxPath bounds a path, in bytes; PATH_MAX of macOS.
	maxPath = 1024
	// maxName bounds one element of a path; NAME_MAX of both systems.
	maxName = 255
)

// Type is what an entry is.
type Type string

const (
	// TypeFile is a regular file.
	TypeFile Type = "file"
	// TypeFolder is a folder.
	TypeFolder Type = "folder"
	// TypeLink is a symbolic link that leads to somewhere in the folder.
	TypeLink Type = "link"
)

// Entry is one thing in a folder.
type Entry struct {
	// Path is relative to the folder, with slashes.
	Path string `json:"path"`
	// Type is what it is.
	Type Type `json:"type"`
	// Mode is its permissions, 0 to 0777; not of links.
	Mode fs.FileMode `json:"mode,omitempty"`
	// Bytes is a file's size.
	Bytes int64 `json:"bytes,omitempty"`
	// Modified is when a file was last changed, in nanoseconds since 1970.
	Modified int64 `json:"modified,omitempty"`
	// Changed is when anything of a file last changed, its name and rights
	// included, in nanoseconds since 1970. Unlike Modified nobody can set it back.
	Changed int64 `json:"changed,omitempty"`
	// Fresh says that it was changed so lately that it may change again without
	// that being seen in Changed.
	Fresh bool `json:"fresh,omitempty"`
	// Target is where a link leads, as it is written in it.
	Target string `json:"target,omitempty"`
}

// ModTime is Modified as a time.
func (e Entry) ModTime() time.Time { return time.Unix(0, e.Modified) }

// Perm is the permissions with which a copy is made: its owner may always read
// and write it, and enter folders.
func (e Entry) Perm() fs.FileMode {
	if e.Type == TypeFolder {
		return e.Mode&fs.ModePerm | 0o700
	}
	return e.Mode&fs.ModePerm | 0o600
}

// Check reports what an entry by itself breaks.
func (e Entry) Check() error {
	if !ValidPath(e.Path) {
		return fmt.Errorf("%w: the path %.80q", ErrProtocol, e.Path)
	}
	bad := e.Mode&^fs.ModePerm != 0
	switch e.Type {
	case TypeFile:
		bad = bad || e.Bytes < 0 || e.Bytes > MaxBytes || e.Target != ""
	case TypeFolder:
		bad = bad || e.Bytes != 0 || e.Modified != 0 || e.Changed != 0 || e.Fresh || e.Target != ""
	case TypeLink:
		bad = e.Mode != 0 || e.Bytes != 0 || e.Modified != 0 || e.Changed != 0 || e.Fresh || !StaysInside(e.Path, e.Target)
	default:
		bad = true
	}
	if bad {
		return fmt.Errorf("%w: the entry %.80q", ErrProtocol, e.Path)
	}
	return nil
}

// ValidPath reports whether a path is one below the folder that both systems can
// have and JSON can carry.
func ValidPath(name string) bool {
	if len(name) > maxPath || name == "." || !fs.ValidPath(name) || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return false
	}
	for element := range strings.SplitSeq(name, "/") {
		if len(element) > maxName {
			return false
		}
	}
	return true
}

// StaysInside reports whether a link at a path of the folder leads to somewhere
// in the folder, whatever other such links there are on the way. So it may go up
// in the beginning only, as far as its own folder is deep: further on, the step
// before may be through a link, and nobody knows where up is.
func StaysInside(name, target string) bool {
	if target == "" || len(target) > maxPath || path.IsAbs(target) || !utf8.ValidString(target) || strings.ContainsRune(target, 0) {
		return false
	}
	up, down := 0, false
	for element := range strings.SplitSeq(target, "/") {
		switch element {
		case "", ".":
		case "..":
			if up++; down {
				return false
			}
		default:
			down = true
		}
	}
	return up <= strings.Count(name, "/")
}
