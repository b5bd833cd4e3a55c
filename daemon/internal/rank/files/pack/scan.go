package pack

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/ignore"
	"fulmen/daemon/internal/rank/files/wire"
)

const (
	// maxRules bounds a .gitignore file, in bytes.
	maxRules = 1 << 20
	// maxSeen bounds how far a folder is looked through that is too large
	// already, in order to name what is large in it.
	maxSeen = 5 * wire.MaxFiles
)

// defaults are left out where no .gitignore file says otherwise: what tools make
// again for each machine.
const defaults = ".venv/\n__pycache__/\nnode_modules/\n"

// scan lists what of a folder is to be copied, and of what is left out by default
// where it was met.
func scan(root *os.Root, folder string, now time.Time) (*wire.List, []string, error) {
	w := walker{root: root, folder: folder, now: now, list: &wire.List{}, weights: weights{}, byDefault: ignore.Parse(nil, "", []byte(defaults))}
	if err := w.walk("", w.byDefault); err != nil {
		return nil, nil, err
	}
	if w.files > wire.MaxFiles || w.bytes > wire.MaxBytes {
		return nil, nil, w.tooLarge()
	}
	return w.list, w.leftOut, nil
}

type walker struct {
	root      *os.Root
	folder    string
	now       time.Time
	byDefault *ignore.Rules
	list      *wire.List
	leftOut   []string
	files     int
	bytes     int64
	weights   weights
}

func (w *walker) walk(dir string, rules *ignore.Rules) error {
	found, err := w.read(dir)
	if err != nil {
		return cannot(err, w.name(dir), w.folder)
	}
	if slices.ContainsFunc(found, func(e fs.DirEntry) bool { return e.Name() == ".gitignore" && e.Type().IsRegular() }) {
		name := path.Join(dir, ".gitignore")
		text, err := w.rules(name)
		if err != nil {
			return err
		}
		rules = ignore.Parse(rules, dir, text)
	}
	for _, e := range found {
		if w.files > maxSeen {
			return nil
		}
		if e.Name() == ".git" {
			continue
		}
		name := path.Join(dir, e.Name())
		if rules.Excludes(name, e.IsDir()) {
			if e.IsDir() && w.byDefault.Excludes(name, true) && len(w.leftOut) < wire.MaxLeftOut && wire.ValidPath(name) {
				w.leftOut = append(w.leftOut, name)
			}
			continue
		}
		if err := w.take(name, rules); err != nil {
			return err
		}
	}
	return nil
}

// take lists one thing that is not excluded, and what is in it.
func (w *walker) take(name string, rules *ignore.Rules) error {
	info, err := w.root.Lstat(name)
	if err != nil {
		return cannot(err, name, w.folder)
	}
	e := wire.Entry{Path: name}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		e.Type, e.Mode, e.Bytes = wire.TypeFile, mode.Perm(), info.Size()
		e.Modified, e.Changed, e.Fresh = info.ModTime().UnixNano(), inodeChanged(info).UnixNano(), fresh(info, w.now)
	case mode.IsDir():
		e.Type, e.Mode = wire.TypeFolder, mode.Perm()
	case mode&fs.ModeSymlink != 0:
		e.Type = wire.TypeLink
		if e.Target, err = w.root.Readlink(name); err != nil {
			return cannot(err, name, w.folder)
		}
		if !wire.StaysInside(name, e.Target) {
			return leaves(name, e.Target)
		}
	default: // a socket, a pipe, a device: nothing that could be copied
		return nil
	}
	if !wire.ValidPath(name) {
		return api.Errorf(api.ReasonSyncFailed, fmt.Sprintf("%.80q", name), "%.200q cannot be copied: the name is too long, or not UTF-8.", name)
	}
	w.files++
	w.bytes += e.Bytes
	w.weights.add(name, e.Type == wire.TypeFolder, e.Bytes)
	if w.files <= wire.MaxFiles && w.bytes <= wire.MaxBytes {
		if err := w.list.Add(e); err != nil {
			return err
		}
	}
	if e.Type == wire.TypeFolder {
		return w.walk(name, rules)
	}
	return nil
}

// leaves is the error of a link that leads out of the folder, or of which only
// the system could say where it leads.
func leaves(name, target string) error {
	if path.IsAbs(target) || strings.HasPrefix(path.Join(path.Dir(name), target), "..") {
		return api.Errorf(api.ReasonSyncLeavesFolder, name, "The link %s leads out of the folder, to %.200q.", name, target)
	}
	return api.Errorf(api.ReasonSyncLeavesFolder, name, "Where the link %s leads cannot be told: it goes up behind another folder, to %.200q.", name, target).
		WithRemedy("Write it with all its .. in front.")
}

// read lists a folder, ordered by name.
func (w *walker) read(dir string) ([]fs.DirEntry, error) {
	f, err := w.root.Open(w.inRoot(dir))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found, err := f.ReadDir(-1)
	slices.SortFunc(found, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return found, err
}

func (w *walker) rules(name string) ([]byte, error) {
	info, err := w.root.Lstat(name)
	if err != nil {
		return nil, cannot(err, name, w.folder)
	}
	if info.Size() > maxRules {
		return nil, api.Errorf(api.ReasonSyncFailed, name, "%s is too long to be read: %d bytes.", name, info.Size())
	}
	text, err := w.root.ReadFile(name)
	if err != nil {
		return nil, cannot(err, name, w.folder)
	}
	return text, nil
}

func (w *walker) inRoot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// name is what people call a path of the folder.
func (w *walker) name(dir string) string {
	if dir == "" {
		return w.folder
	}
	return dir
}
