package lifecycle

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"fulmen/daemon/internal/home"
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
	*home.Watch
	path    string
	started os.FileInfo
}

// WatchProgram calls changed, from one goroutine, whenever another state was found
// than the one before; it begins with ProgramSame. The path is the program's own.
func WatchProgram(path string, changed func(ProgramState)) (*Program, error) {
	started, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	p := &Program{path: path, started: started}
	state := ProgramSame
	p.Watch, err = home.NewWatch(settle, settleMost, p.follow, func() {
		if now := p.State(); now != state {
			state = now
			changed(state)
		}
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// follow watches the folder of the program and, where that is a part of an app, the
// one in which the app lies: an installer moves the whole app away. A folder that is
// gone is not watched, and an app's place is, in which it comes back.
func (p *Program) follow(w *fsnotify.Watcher) (func(string) bool, error) {
	every := func(string) bool { return true }
	folder := filepath.Dir(p.path)
	err := w.Add(folder)
	for above := folder; above != filepath.Dir(above); above = filepath.Dir(above) {
		if filepath.Ext(above) == ".app" {
			return every, errors.Join(err, w.Add(filepath.Dir(above)))
		}
	}
	return every, err
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
