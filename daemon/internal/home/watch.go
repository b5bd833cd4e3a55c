package home

import (
	"errors"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watch calls a function when something has changed in some folders, and it has become
// quiet there: editors and installers write, rename and set modes in several steps.
type Watch struct {
	watcher *fsnotify.Watcher
	ended   sync.WaitGroup
}

// NewWatch waits for quiet after the last event, and no longer than most after the first.
// follow adds the folders and gives which names concern, at the beginning, where its error
// is returned, and before each change is told, since the folders may be other ones by
// then. Where events were lost, one may have concerned. changed is called from one
// goroutine.
func NewWatch(quiet, most time.Duration, follow func(*fsnotify.Watcher) (concerns func(name string) bool, err error), changed func()) (*Watch, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	concerns, err := follow(watcher)
	if err != nil {
		return nil, errors.Join(err, watcher.Close())
	}
	w := &Watch{watcher: watcher}
	w.ended.Go(func() {
		timer := time.NewTimer(most)
		timer.Stop() // armed by the first event
		first := time.Time{}
		for {
			select {
			case event, ok := <-watcher.Events:
				if !ok {
					return
				}
				if !concerns(event.Name) {
					continue
				}
			case _, ok := <-watcher.Errors:
				if !ok {
					return
				}
			case <-timer.C:
				first = time.Time{}
				if now, err := follow(watcher); err == nil {
					concerns = now
				}
				changed()
				continue
			}
			now := time.Now()
			if first.IsZero() {
				first = now
			}
			timer.Reset(max(0, min(quiet, most-now.Sub(first))))
		}
	})
	return w, nil
}

// Close ends it. Nothing is called any more when it has returned.
func (w *Watch) Close() error {
	err := w.watcher.Close()
	w.ended.Wait()
	return err
}
