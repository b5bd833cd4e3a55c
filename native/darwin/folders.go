package darwin

import (
	"path/filepath"
	"strings"
	"sync"
)

// stream is what the system announces of one folder.
type stream interface {
	// flush returns once all was announced that the system knows of by now.
	flush()
	// leave ends it: nothing is announced once it has returned.
	leave()
}

// Folders follows folders with all that is below them. It may be used by many at once.
type Folders struct {
	open    func(folder string, announce func(path string, more bool)) (stream, error)
	changed func(folder, path string)

	mu  sync.Mutex
	all map[string]*followed
}

// followed is a folder, and how often it was asked for.
type followed struct {
	stream
	times int
}

// NewFolders follows none yet. It says where something changed: in the folder at a path, or
// anywhere below the followed one where the path is empty. What it calls does not wait for
// anybody who uses the Folders.
func NewFolders(changed func(folder, path string)) *Folders {
	return &Folders{open: openStream, changed: changed, all: map[string]*followed{}}
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
	s, err := f.open(folder, func(path string, more bool) { f.announce(folder, path, more) })
	if err == nil {
		f.all[folder] = &followed{s, 1}
	}
	return err
}

// Unfollow takes back one Follow.
func (f *Folders) Unfollow(folder string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.all[folder]; one != nil {
		if one.times--; one.times == 0 {
			one.leave()
			delete(f.all, folder)
		}
	}
}

// Flush returns once it was said what the system knows of by now.
func (f *Folders) Flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.all {
		one.flush()
	}
}

// Close follows nothing any more.
func (f *Folders) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.all {
		one.leave()
	}
	clear(f.all)
	return nil
}

// announce says that a folder changed, or more than that.
func (f *Folders) announce(folder, path string, more bool) {
	at := filepath.Clean(path) // a folder's may end in a slash
	if more || at != folder && !strings.HasPrefix(at, strings.TrimSuffix(folder, "/")+"/") {
		at = "" // also where the system writes the path otherwise, as on a volume that ignores case
	}
	f.changed(folder, at)
}
