package uninstall

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
)

// crashLog is where launchd has what a crash of the daemon prints.
const crashLog = "/Library/Logs/fulmend.err"

// List says what there is, and what becomes of it. The output of jobs goes only
// where that is wanted.
func List(o Options, deleteOutput bool) api.UninstallPlan {
	l := &lister{o: o}
	l.services()
	f := o.Folders
	l.add(api.UninstallItem{Kind: api.UninstallRuntime, Path: f.Runtime})
	if o.OS == "darwin" && !o.IsAlone && f.Mode == api.ModeSystem {
		l.add(api.UninstallItem{Kind: api.UninstallRuntime, Path: o.at(api.LaunchdSocket)})
		l.add(api.UninstallItem{Kind: api.UninstallLogs, Path: o.at(crashLog)})
	}
	for _, name := range names(f.Logs, "fulmend.log") {
		l.add(api.UninstallItem{Kind: api.UninstallLogs, Path: filepath.Join(f.Logs, name)})
	}
	l.add(api.UninstallItem{Kind: api.UninstallConfiguration, Path: f.ConfigFile()})
	for _, name := range names(f.State, api.KeyFile, api.StateFile, home.LifeFile, "simulated") {
		l.add(api.UninstallItem{Kind: api.UninstallState, Path: filepath.Join(f.State, name)})
	}
	l.output(deleteOutput)
	l.undo()
	l.programs()
	return api.UninstallPlan{Items: l.items}
}

type lister struct {
	o     Options
	items []api.UninstallItem
}

// at is the path of something of the system's own.
func (o Options) at(path string) string { return filepath.Join(o.Root, path) }

// add lists an item that is there.
func (l *lister) add(item api.UninstallItem) {
	if _, err := os.Lstat(item.Path); err != nil {
		return
	}
	item.Bytes = size(item.Path)
	l.items = append(l.items, item)
}

// names are those in a folder that Fulmen gives, and what was set aside beside them:
// a configuration may name a folder that holds other things too.
func names(folder string, own ...string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var all []string
	for _, entry := range entries {
		name := entry.Name()
		if slices.ContainsFunc(own, func(of string) bool {
			return name == of || strings.HasPrefix(name, of+".") || strings.HasPrefix(name, of+"-")
		}) {
			all = append(all, name)
		}
	}
	return all
}

func (l *lister) output(deleteIt bool) {
	path := l.o.Folders.JobsFolder()
	jobs := 0
	entries, _ := os.ReadDir(path) // what cannot be read counts as empty, and is removed or kept whole
	for _, entry := range entries {
		if _, err := api.ParseJobID(entry.Name()); err == nil {
			jobs++
		}
	}
	item := api.UninstallItem{Kind: api.UninstallOutput, Path: path, Jobs: jobs}
	if jobs > 0 && !deleteIt {
		item.Stays = "It was asked to be kept."
	}
	l.add(item)
}

func (l *lister) undo() {
	item := api.UninstallItem{Kind: api.UninstallUndo, Path: l.o.Folders.UndoFile()}
	if _, err := os.Lstat(item.Path); err != nil {
		return
	}
	if l.o.Undo(item.Path) > 0 {
		item.Stays = "It has changes of the network settings that were not put back. Installing Fulmen again offers to do so."
	}
	l.add(item)
}

// size is how many bytes a file or a folder takes.
func size(path string) int64 {
	total := int64(0)
	_ = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if info, err := entry.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil // what cannot be read is not counted
	})
	return total
}
