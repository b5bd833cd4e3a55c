package linux

import (
	"errors"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
	"syscall"

	"fulmen/native"
)

// tree is where the kernel's and the system's files are. A path begins with the
// name of its root: "proc/stat".
type tree struct{ proc, sys, etc fs.FS }

func (t tree) root(name string) (fs.FS, string) {
	first, rest, _ := strings.Cut(name, "/")
	switch first {
	case "proc":
		return t.proc, rest
	case "sys":
		return t.sys, rest
	}
	return t.etc, rest
}

func (t tree) bytes(name string) ([]byte, error) {
	root, rest := t.root(name)
	return fs.ReadFile(root, rest)
}

// text reads a file without the white space and zero bytes around its content.
// Of a list that zero bytes separate (the device tree's) it is the whole list.
func (t tree) text(name string) (string, error) {
	data, err := t.bytes(name)
	return strings.Trim(string(data), " \t\r\n\x00"), err
}

// number reads a file that holds one decimal number.
func (t tree) number(name string) (int64, error) {
	text, err := t.text(name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, malformedError(text)
	}
	return n, nil
}

// names lists a folder, sorted; one that is not there is empty.
func (t tree) names(name string) []string {
	root, rest := t.root(name)
	entries, err := fs.ReadDir(root, rest)
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

func (t tree) exists(name string) bool {
	root, rest := t.root(name)
	_, err := fs.Stat(root, rest)
	return err == nil
}

// link is where a symbolic link points, or "".
func (t tree) link(name string) string {
	root, rest := t.root(name)
	target, err := fs.ReadLink(root, rest)
	if err != nil {
		return ""
	}
	return target
}

// malformedError is the content of a file that makes no sense.
type malformedError string

// Error quotes the beginning of the content.
func (m malformedError) Error() string { return strconv.Quote(string(m[:min(len(m), 40)])) }

// reason says why name could not be read. missing is what it means that there
// is no such file.
func reason(name string, err error, missing native.Reason) native.Reason {
	var malformed malformedError
	file := path.Base(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing
	case errors.Is(err, syscall.EACCES):
		// The file's mode, which does not stop root.
		return native.ReasonNeedsRoot.With(file)
	case errors.Is(err, fs.ErrPermission):
		return native.ReasonPermission.With(file)
	case errors.Is(err, syscall.EOPNOTSUPP):
		return native.ReasonNoOS.With(file + ": switched off in this kernel")
	case errors.Is(err, syscall.EROFS):
		return native.ReasonPermission.With(file + ": read-only")
	case errors.As(err, &malformed):
		return native.ReasonSourceMalformed.With(file + ": " + malformed.Error())
	}
	// The path in the error is left out: it is the caller's root, which differs.
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return native.ReasonReadFailed.With(file + ": " + err.Error())
}

// scaled multiplies n by a positive factor and reports whether the product can
// be told.
func scaled(n, factor int64) (int64, bool) {
	if n < 0 || n > math.MaxInt64/factor {
		return 0, false
	}
	return n * factor, true
}
