package darwin

import (
	"path/filepath"
	"strings"
	"sync"
)

// folderEvents are the system's, of one folder each.
type folderEvents interface {
	// follow announces to the folder's changed from then on.
	follow(f *followed) error
	flush(f *followed)
	// leave ends it: nothing is announced once it has returned.
	leave(f *followed)
}

// Folders follows folders with all that is below them. It may be used by many at once.
type Folders struct {
	events  folderEvents
	changed func(folder, path string)

	mu  sync.Mutex
	all map[string]*followed
}

// followed is a folder, and how often it was asked for.
type followed struct {
	folder string
	of     *Folders
	times  int
	system systemFolder
}

// NewFolders follows none yet. It says where something changed: in the folder at a path, or
// anywhere below the followed one where the path is empty. What it calls does not wait for
// anybody who uses the Folders.
func NewFolders(changed func(folder, path string)) *Folders {
	return newFolders(systemFolderEvents(), changed)
}

func newFolders(events folderEvents, changed func(folder, path string)) *Folders {
	return &Folders{events: events, changed: changed, all: map[string]*followed{}}
}

// Follow follows a folder, which is absolute and without links, until Unfollow was called
// as often.
func (f *Folders) Follow(folder string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.all[folder]; one != nil {
		one.times++
		return nil
	}
	one := &followed{folder: folder, of: f, times: 1}
	if err := f.events.follow(one); err != nil {
		return err
	}
	f.all[folder] = one
	return nil
}

// Unfollow takes back one Follow.
func (f *Folders) Unfollow(folder string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.all[folder]; one != nil {
		if one.times--; one.times == 0 {
			f.events.leave(one)
			delete(f.all, folder)
		}
	}
}

// Flush returns once it was said what the system knows of by now.
func (f *Folders) Flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.all {
		f.events.flush(one)
	}
}

// Close follows nothing any more.
func (f *Folders) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.all {
		f.events.leave(one)
	}
	clear(f.all)
	return nil
}

// announce says that a folder changed, or more than that.
func (f *followed) announce(path string, more bool) {
	at := filepath.Clean(path) // a folder's may end in a slash
	if more || at != f.folder && !strings.HasPrefix(at, strings.TrimSuffix(f.folder, "/")+"/") {
		at = "" // also where the system writes the path otherwise, as on a volume that ignores case
	}
	f.of.changed(f.folder, at)
}
