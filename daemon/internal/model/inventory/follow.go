package inventory

import (
	"errors"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/fsnotify/fsnotify"

	"fulmen/native/darwin"
)

// follower has the system say what changes in folders of roots. What changes once follow
// has returned is noted.
type follower interface {
	// follow follows a folder of a root, until unfollow was called for both.
	follow(root, folder string) error
	unfollow(root, folder string)
	// flush returns once what the system knows of by now was noted, as far as it lets
	// anybody wait for that.
	flush()
	Close() error
}

// newFollower follows by the system's own means, and notes what it says.
func newFollower(h *hints) follower {
	if runtime.GOOS == "darwin" {
		return below{darwin.NewFolders(h.noteBelow)}
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return &watched{} // all is read again for each answer
	}
	go h.take(w)
	return &watched{watcher: w}
}

// below follows each root once, with all that is below it.
type below struct{ *darwin.Folders }

func (b below) follow(root, _ string) error { return b.Follow(root) }
func (b below) unfollow(root, _ string)     { b.Unfollow(root) }
func (b below) flush()                      { b.Flush() }

// maxFollowed is how many folders are followed at most, each by itself.
const maxFollowed = 4096

// errUnfollowed is matched where the system or a limit does not let a folder be followed.
var errUnfollowed = errors.New("too many folders to follow")

// watched follows each folder by itself.
type watched struct {
	watcher *fsnotify.Watcher // nil where the system has none
	count   int
}

func (w *watched) follow(_, folder string) error {
	if w.watcher == nil || w.count >= maxFollowed {
		return errUnfollowed
	}
	err := w.watcher.Add(folder)
	if err == nil {
		w.count++
	}
	return err
}

func (w *watched) unfollow(_, folder string) {
	w.count--
	_ = w.watcher.Remove(folder) // it may be gone
}

func (*watched) flush() {} // what happened is noted within a moment

func (w *watched) Close() error {
	if w.watcher == nil {
		return nil
	}
	return w.watcher.Close()
}

// followLocked follows a folder of a root for a unit of it.
func (i *Inventory) followLocked(r *root, u *unit, folder string) error {
	if _, twice := u.folders[folder]; twice {
		return nil
	}
	err := i.follower.follow(r.real, folder)
	if err == nil {
		u.folders[folder] = struct{}{}
	}
	return err
}

func (i *Inventory) unfollowLocked(r *root, u *unit) {
	for folder := range u.folders {
		i.follower.unfollow(r.real, folder)
	}
	u.folders = nil
}

// hints are the paths at which something may have changed.
type hints struct {
	mu    sync.Mutex
	paths map[string]struct{}
	all   bool // events were lost
}

// maxHints is how many are told apart.
const maxHints = 10_000

// take notes what a watcher says, until it is closed.
func (h *hints) take(w *fsnotify.Watcher) {
	for {
		select {
		case event, ok := <-w.Events:
			if !ok {
				return
			}
			h.note(event.Name)
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
			h.note("")
		}
	}
}

// note notes a path below a root, or a root of which all may have changed; "" is all.
func (h *hints) note(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.paths == nil {
		h.paths = map[string]struct{}{}
	}
	if h.all = h.all || name == "" || len(h.paths) >= maxHints; !h.all {
		h.paths[name] = struct{}{}
	}
}

// noteBelow notes what a system says that follows a root with all below it: the folder at a
// path changed, or where that is empty anything.
func (h *hints) noteBelow(root, path string) {
	switch path {
	case "":
		h.note(root)
	case root:
		h.note(root + string(filepath.Separator) + ".") // an entry came or went
	default:
		h.note(path)
	}
}

func (h *hints) drain() (paths map[string]struct{}, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	paths, all = h.paths, h.all
	h.paths, h.all = nil, false
	return paths, all
}
