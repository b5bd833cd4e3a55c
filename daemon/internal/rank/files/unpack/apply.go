package unpack

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"

	"fulmen/daemon/internal/rank/files/wire"
)

// apply makes the copy what the list says. What breaks off in the middle is made
// good by the next run: what is not as the index has it is looked at again.
func (c *copying) apply() error {
	if err := c.removeGone(); err != nil {
		return err
	}
	for i, e := range c.list.Entries() {
		var err error
		switch at := path.Join(c.name, e.Path); e.Type {
		case wire.TypeFolder:
			err = c.putFolder(at, e)
		case wire.TypeFile:
			err = c.putFile(at, i)
		case wire.TypeLink:
			err = c.putLink(at, e.Target)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeGone removes what an earlier run put there and the list has no more.
// Folders go only when nothing is left in them.
func (c *copying) removeGone() error {
	stays := map[string]bool{}
	for _, e := range c.list.Entries() {
		stays[e.Path] = true
	}
	gone := slices.DeleteFunc(slices.Sorted(maps.Keys(c.known)), func(name string) bool { return stays[name] })
	slices.Reverse(gone) // what is in a folder before the folder
	for _, name := range gone {
		err := c.area.Remove(path.Join(c.name, name))
		if c.known[name].Type != wire.TypeFolder && err != nil && !errors.Is(err, fs.ErrNotExist) && !c.replaced(name) {
			return err
		}
	}
	return nil
}

// replaced reports whether a path, or a folder on its way, is something else now.
func (c *copying) replaced(name string) bool {
	info, err := c.area.Lstat(path.Join(c.name, name))
	return err != nil || info.IsDir()
}

func (c *copying) putFolder(at string, e wire.Entry) error {
	info, err := c.area.Lstat(at)
	if err == nil && info.IsDir() {
		if mode, differs := perm(info, e); differs {
			return c.area.Chmod(at, mode)
		}
		return nil
	}
	if err == nil {
		err = c.area.Remove(at)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := c.area.Mkdir(at, 0o700); err != nil {
		return err
	}
	return c.area.Chmod(at, e.Perm())
}

// putFile puts a staged file in place, or brings the one that is there up to date.
func (c *copying) putFile(at string, i int) error {
	r := &c.records[i]
	source := at
	if c.from[i] != "" {
		source = path.Join(stagingDir, c.from[i])
	}
	info, err := c.area.Lstat(source)
	if err != nil {
		return err
	}
	if mode, differs := perm(info, r.Entry); differs {
		if err := c.area.Chmod(source, mode); err != nil {
			return err
		}
	}
	if !info.ModTime().Equal(r.ModTime()) {
		if err := c.area.Chtimes(source, r.ModTime(), r.ModTime()); err != nil {
			return err
		}
		// The disk may keep it less exactly.
		if info, err = c.area.Lstat(source); err != nil {
			return err
		}
	}
	r.Local = info.ModTime().UnixNano()
	if source == at {
		return nil
	}
	return c.move(source, at)
}

// move renames what is staged over whatever is there.
func (c *copying) move(source, at string) error {
	if info, err := c.area.Lstat(at); err == nil && info.IsDir() {
		if err := c.area.RemoveAll(at); err != nil {
			return err
		}
	}
	return c.area.Rename(source, at)
}

func (c *copying) putLink(at, target string) error {
	if there, err := c.area.Readlink(at); err == nil && there == target {
		return nil
	}
	if err := c.area.RemoveAll(arriving); err != nil {
		return err
	}
	if err := c.area.Symlink(target, arriving); err != nil {
		return err
	}
	return c.move(arriving, at)
}
