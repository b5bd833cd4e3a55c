package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"fulmen/daemon/api"
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

// Condition is what the node's health conditions show of it.
func (a *Aside) Condition() api.Condition {
	return api.Condition{
		Code: api.ReasonStateCorrupt, Severity: api.SeverityError, Since: api.TimeOf(a.At),
		Text: fmt.Sprintf("The database was damaged (%s). It was set aside as %s, and a new one was begun.", a.Problem, a.Path),
		Remedy: "Nothing was deleted. To use it again, stop the daemon and give the file its old name; " +
			"jobs and measurements of before are in it, and so is the membership in a cluster.",
	}
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
