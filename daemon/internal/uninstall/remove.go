package uninstall

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
)

// Options say what is uninstalled, and how the system is told.
type Options struct {
	// Folders are the daemon's, as its configuration has them.
	Folders home.Folders
	// OS is "darwin" or "linux".
	OS string
	// Root is put before the paths of the system's own folders; empty but in tests.
	Root string
	// Programs is the folder of Fulmen's programs, or empty; IsAlone says that all
	// folders are under one that somebody chose, so that the system was not touched.
	Programs string
	IsAlone  bool
	// Undo counts the changes that a record of them has and that were not put back. One
	// that cannot be read has some.
	Undo func(path string) int
	// Run runs a command of the system, such as systemctl; its error has what the
	// command said.
	Run func(ctx context.Context, name string, args ...string) error
	// Ranks ends what runs on of jobs; nil where nothing can.
	Ranks func(ctx context.Context) error
}

// Remove takes away what a plan says, which was made a moment ago. The services end
// first, and with them the daemon; one that still runs then, or that somebody has
// started by hand, keeps everything from being removed: an *api.Error says who.
func Remove(ctx context.Context, o Options, plan api.UninstallPlan) (api.UninstallResult, error) {
	r := api.UninstallResult{Removed: []api.UninstallItem{}, Stayed: []api.UninstallItem{}, Failed: o.stopServices(ctx)}
	if o.Ranks != nil {
		if err := o.Ranks(ctx); err != nil {
			r.Failed = append(r.Failed, failure("end", "jobs", err))
		}
	}
	if _, err := os.Stat(o.Folders.State); err == nil {
		lock, err := o.Folders.Lock()
		if err != nil {
			return r, err
		}
		defer lock.Release() // when all is gone; the file itself goes with its folder
	}
	for _, item := range plan.Items {
		if item.Stays != "" {
			r.Stayed = append(r.Stayed, item)
			continue
		}
		if err := os.RemoveAll(item.Path); err != nil {
			r.Failed = append(r.Failed, failure("remove", item.Path, err))
			continue
		}
		r.Removed = append(r.Removed, item)
	}
	o.forgetServices(ctx)
	r.Failed = append(r.Failed, o.tidy()...)
	return r, nil
}

// failure is what could not be done, in words for people.
func failure(doing, path string, err error) api.UninstallFailure {
	return api.UninstallFailure{Path: path, Message: api.AsError(home.Explain(err, doing, path)).Message}
}

// tidy removes the folders that are empty by now, but for the lock. What is in them
// beside is not Fulmen's, or stays.
func (o Options) tidy() []api.UninstallFailure {
	var failed []api.UninstallFailure
	lock := filepath.Join(o.Folders.State, home.LockFile)
	for _, folder := range slices.Compact([]string{o.Folders.Logs, o.Folders.State, o.Folders.Config}) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		isLast := len(entries) == 1 && filepath.Join(folder, entries[0].Name()) == lock
		if len(entries) > 0 && !isLast {
			continue
		}
		if isLast {
			_ = os.Remove(lock) // what holds it is this process
		}
		if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, failure("remove", folder, err))
		}
	}
	return failed
}
