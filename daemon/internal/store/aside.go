package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"fulmen/daemon/internal/home"
)

// Aside says that the file that was there could not be used, and where it is now.
type Aside struct {
	// Path is its new name, in the same folder.
	Path string
	// Problem is what was wrong with it, one clause.
	Problem string
	// At is when it was set aside.
	At time.Time
}

// Says is what it means for a person, in a clause.
func (a *Aside) Says() string {
	return a.Problem + "; it is kept as " + a.Path + ". This Mac is in no cluster any more, and does not know its jobs, its measurements and what it lends"
}

// setAside gives the file a name that nothing has. Whoever calls it holds the lock.
func setAside(path, problem string) (*Aside, error) {
	now := time.Now()
	stamp := path + ".damaged-" + now.UTC().Format("20060102T150405Z")
	for i := 1; ; i++ {
		to := stamp
		if i > 1 {
			to = fmt.Sprintf("%s-%d", stamp, i)
		}
		if _, err := os.Lstat(to); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, home.Explain(err, "examine", to)
		}
		if err := home.Rename(path, to); err != nil {
			return nil, home.Explain(err, "set aside the damaged database", path)
		}
		return &Aside{Path: to, Problem: problem, At: now}, nil
	}
}
