package lifecycle

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// ProgramState is how the program that runs and the one that is installed relate.
type ProgramState string

const (
	// ProgramSame is the program that runs.
	ProgramSame ProgramState = "same"
	// ProgramReplaced is another one in its place.
	ProgramReplaced ProgramState = "replaced"
	// ProgramGone is none.
	ProgramGone ProgramState = "gone"
)

const (
	// settle is the quiet after the last event at which it is looked: an installer
	// takes the old one away, writes, and sets modes.
	settle = time.Second
	// settleMost bounds the wait for quiet in a busy folder.
	settleMost = 30 * time.Second
)

// Program watches the file of the program that runs.
type Program struct {
	path    string
	started os.FileInfo
	changed func(ProgramState)
	watcher *fsnotify.Watcher
	ended   sync.WaitGroup
}

// WatchProgram calls changed, from one goroutine, whenever another state was found
// than the one before; it begins with ProgramSame. The path is the program's own.
func WatchProgram(path string, changed func(ProgramState)) (*Program, error) {
	started, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	p := &Program{path: path, started: started, changed: changed, watcher: watcher}
	if err := p.follow(); err != nil {
		return nil, errors.Join(err, watcher.Close())
	}
	p.ended.Go(p.run)
	return p, nil
}

// follow watches the folder of the program and, where that is a part of an app, the
// one in which the app lies: an installer moves the whole app away.
func (p *Program) follow() error {
	folder := filepath.Dir(p.path)
	err := p.watcher.Add(folder)
	for above := folder; above != filepath.Dir(above); above = filepath.Dir(above) {
		if filepath.Ext(above) == ".app" {
			return errors.Join(err, p.watcher.Add(filepath.Dir(above)))
		}
	}
	return err
}

// State looks at the file.
func (p *Program) State() ProgramState {
	now, err := os.Stat(p.path)
	switch {
	case err != nil:
		return ProgramGone
	case os.SameFile(now, p.started) && now.Size() == p.started.Size() && now.ModTime().Equal(p.started.ModTime()):
		return ProgramSame
	}
	return ProgramReplaced
}

func (p *Program) run() {
	quiet := time.NewTimer(settleMost)
	quiet.Stop() // armed by the first event
	state, first := ProgramSame, time.Time{}
	for {
		select {
		case _, ok := <-p.watcher.Events:
			if !ok {
				return
			}
		case _, ok := <-p.watcher.Errors: // events were lost, and one may have been the program's
			if !ok {
				return
			}
		case <-quiet.C:
			first = time.Time{}
			// The folder may be another one by now. One that is gone is not watched, and
			// an app's place is, in which it comes back.
			_ = p.follow()
			if now := p.State(); now != state {
				state = now
				p.changed(state)
			}
			continue
		}
		now := time.Now()
		if first.IsZero() {
			first = now
		}
		quiet.Reset(max(0, min(settle, settleMost-now.Sub(first))))
	}
}

// Close ends the watch.
func (p *Program) Close() error {
	err := p.watcher.Close()
	p.ended.Wait()
	return err
}
