package config

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// settle is the quiet after the last event at which the file is read: an
	// editor writes, renames and sets modes in several steps.
	settle = 50 * time.Millisecond
	// settleMax bounds the wait for quiet.
	settleMax = time.Second
)

// watch calls a function when a file may have changed.
type watch struct {
	watcher *fsnotify.Watcher
	file    string
	changed func()
	ended   sync.WaitGroup
}

// startWatch watches the folder, not the file: editors put a new file in its
// place. Where the file is a link, the folder that it leads to is watched too.
func startWatch(path string, changed func()) (*watch, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watch{watcher: watcher, file: filepath.Clean(path), changed: changed}
	if err := watcher.Add(folderOf(path)); err != nil {
		return nil, errors.Join(err, watcher.Close())
	}
	w.follow()
	w.ended.Go(w.run)
	return w, nil
}

// follow also watches where the file's link leads to, if it is one. What leads
// nowhere is noticed when the link itself changes.
func (w *watch) follow() string {
	target, err := filepath.EvalSymlinks(w.file)
	if err != nil || target == w.file {
		return w.file
	}
	if err := w.watcher.Add(folderOf(target)); err != nil {
		return w.file
	}
	return target
}

func (w *watch) run() {
	quiet := time.NewTimer(settleMax)
	quiet.Stop() // armed by the first event
	target, first := w.follow(), time.Time{}
	hint := func() {
		now := time.Now()
		if first.IsZero() {
			first = now
		}
		quiet.Reset(max(0, min(settle, settleMax-now.Sub(first))))
	}
	for {
		select {
		case event, ok := <-w.watcher.Events:
			if !ok {
				return
			}
			if event.Name == w.file || event.Name == target || event.Name == folderOf(w.file) {
				hint()
			}
		case _, ok := <-w.watcher.Errors:
			if !ok {
				return
			}
			hint() // events were lost, and one may have been the file's
		case <-quiet.C:
			first = time.Time{}
			target = w.follow()
			w.changed()
		}
	}
}

func (w *watch) close() error {
	err := w.watcher.Close()
	w.ended.Wait()
	return err
}

func unwatched(path string, err error) *api.Error {
	reason := api.ReasonReadFailed
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENOSPC) {
		reason = api.ReasonTooManyFiles // inotify calls the end of its watches a full disk
	}
	e := api.Errorf(reason, path, "Changes of %s are not noticed%s.", path, native.Said(err))
	e.Data.Remedy = "Restart the daemon after changing the file, or change it with `fulmen config set`."
	return e
}

func folderOf(path string) string { return filepath.Dir(filepath.Clean(path)) }

// readSome reads a file's beginning. It does not wait on what is no plain file.
func readSome(path string, limit int64) (string, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", &os.PathError{Op: "read", Path: path, Err: errors.New("it is no plain file")}
	}
	text, err := io.ReadAll(io.LimitReader(file, limit))
	return string(text), err
}
