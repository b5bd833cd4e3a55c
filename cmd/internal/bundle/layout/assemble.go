package layout

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Assemble makes the bundle from its parts, in place of what was there, all or
// nothing. A part that is missing is an error that names it.
func Assemble(bundle string, parts []Part) error {
	fresh := bundle + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	for _, part := range parts {
		if err := part.put(filepath.Join(fresh, "Contents", part.Path)); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", part.Path, err), os.RemoveAll(fresh))
		}
	}
	if err := os.RemoveAll(bundle); err != nil {
		return err
	}
	return os.Rename(fresh, bundle)
}

func (p Part) put(to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if p.Content == nil {
		return Copy(p.From, to, p.Mode)
	}
	content, err := p.Content()
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, p.Mode)
}

// Copy copies a file, and gives the copy a mode.
func Copy(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
