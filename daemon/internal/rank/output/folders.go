package output

import (
	"errors"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"

	"fulmen/native/waker"
)

// folders tells readers that something changed in a folder. One watch of the
// system serves all readers: it has few.
type folders struct {
	mu      sync.Mutex
	watcher *fsnotify.Watcher // nil until the first reader comes
	readers map[string]map[waker.Waker]struct{}
	closed  bool
}

func newFolders() *folders {
	return &folders{readers: map[string]map[waker.Waker]struct{}{}}
}

// add watches a folder for one reader. What comes from the channel is a hint:
// several changes make one.
func (f *folders) add(folder string) (hint <-chan struct{}, release func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, nil, fsnotify.ErrClosed
	}
	if f.watcher == nil {
		if f.watcher, err = fsnotify.NewWatcher(); err != nil {
			return nil, nil, err
		}
		go f.run(f.watcher)
	}
	folder = filepath.Clean(folder)
	if len(f.readers[folder]) == 0 {
		if err := f.watcher.Add(folder); err != nil {
			return nil, nil, err
		}
		f.readers[folder] = map[waker.Waker]struct{}{}
	}
	c := waker.New()
	f.readers[folder][c] = struct{}{}
	return c, func() { f.remove(folder, c) }, nil
}

func (f *folders) remove(folder string, c waker.Waker) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.readers[folder], c)
	if len(f.readers[folder]) == 0 {
		delete(f.readers, folder)
		_ = f.watcher.Remove(folder) // it may be gone
	}
}

func (f *folders) run(w *fsnotify.Watcher) {
	for {
		select {
		case event, ok := <-w.Events:
			if !ok {
				return
			}
			f.notify(filepath.Dir(event.Name))
		case err, ok := <-w.Errors:
			if !ok {
				return
			}
			if err != nil {
				f.notify("") // events were lost, and may have been anybody's
			}
		}
	}
}

// notify hints the readers of a folder, or of all.
func (f *folders) notify(folder string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, readers := range f.readers {
		if folder != "" && folder != name {
			continue
		}
		for c := range readers {
			c.Wake()
		}
	}
}

func (f *folders) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.watcher == nil {
		return nil
	}
	err := f.watcher.Close()
	if errors.Is(err, fsnotify.ErrClosed) {
		return nil
	}
	return err
}
