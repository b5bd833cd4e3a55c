package uninstall

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/daemon/internal/uninstall/bundle"
)

// crashLog is where launchd has what a crash of the daemon prints; that of an account
// lies beside its logs.
const (
	crashLog  = "/Library/Logs/" + crashFile
	crashFile = "fulmend.err"
)

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
	for _, name := range names(f.Logs, "fulmend.log", crashFile) {
		l.add(api.UninstallItem{Kind: api.UninstallLogs, Path: filepath.Join(f.Logs, name)})
	}
	l.add(api.UninstallItem{Kind: api.UninstallConfiguration, Path: f.ConfigFile()})
	for _, name := range names(f.State, api.KeyFile, api.StateFile, home.LifeFile, "simulated") {
		l.add(api.UninstallItem{Kind: api.UninstallState, Path: filepath.Join(f.State, name)})
	}
	l.output(deleteOutput)
	l.undo()
	l.programs()
	l.add(api.UninstallItem{Kind: api.UninstallState, Path: o.lockFile()}) // the last, since it is held until all else is gone
	return api.UninstallPlan{Items: l.items}
}

type lister struct {
	o     Options
	items []api.UninstallItem
}

// lockFile is what a running daemon holds locked.
func (o Options) lockFile() string { return filepath.Join(o.Folders.State, home.LockFile) }

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
		item.Stays = "You asked to keep it."
	}
	l.add(item)
}

func (l *lister) undo() {
	item := api.UninstallItem{Kind: api.UninstallUndo, Path: l.o.Folders.UndoFile()}
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

// launchDaemons is where launchd finds the daemons of packages; that of the app lies
// in its bundle.
const launchDaemons = "/Library/LaunchDaemons"

// packageReceipt is what the installer has noted of the package.
const packageReceipt = "org.fulmen.pkg"

// systemUnits and userUnits are those of systemd, what starts the daemon before the
// daemon.
var (
	systemUnits = []string{"fulmend.socket", "fulmend-api.socket", "fulmend.service"}
	userUnits   = []string{"fulmend.socket", "fulmend.service"}
)

// unitFolders are where units may lie that no package of the system has put there,
// those that are installed in the first.
var unitFolders = []string{"/etc/systemd/system", "/usr/local/lib/systemd/system"}

// packagedUnits is where the system's packages put theirs; /lib leads there.
const packagedUnits = "/usr/lib/systemd/system"

// serviceFile is one of those with which the system starts the daemon.
type serviceFile struct {
	path string
	// asset is what is installed there; empty where it is only removed.
	asset string
	// stays is why it is not removed, as one sentence.
	stays string
}

// serviceFiles are all of them, whether they are there or not: what is installed, and
// what is removed.
func (o Options) serviceFiles() (all []serviceFile) {
	units := func(folder, assets string) {
		for _, unit := range o.units() {
			file := serviceFile{path: filepath.Join(folder, unit)}
			if assets != "" {
				file.asset = assets + unit
			}
			all = append(all, file, serviceFile{path: file.path + ".d"})
		}
	}
	const job = api.DaemonLabel + ".plist"
	library := filepath.Dir(filepath.Dir(o.Folders.Config)) // on a Mac; below is Application Support
	switch {
	case o.IsAlone:
	case o.OS == "darwin" && o.isUsers():
		all = append(all, serviceFile{path: filepath.Join(library, "LaunchAgents", job), asset: "launchd/" + job})
	case o.OS == "darwin":
		all = append(all, serviceFile{path: o.at(filepath.Join(launchDaemons, job)), asset: "launchd/" + job})
	case o.isUsers():
		units(filepath.Join(filepath.Dir(o.Folders.Config), "systemd", "user"), "systemd/user/")
	default:
		units(o.at(unitFolders[0]), "systemd/")
		units(o.at(unitFolders[1]), "")
		for _, unit := range o.units() {
			all = append(all, serviceFile{path: o.at(filepath.Join(packagedUnits, unit)), stays: "It belongs to a system package: remove that package."})
		}
	}
	return all
}

// isUsers says that the daemon is one account's.
func (o Options) isUsers() bool { return o.Folders.Mode != api.ModeSystem }

func (o Options) units() []string {
	if o.isUsers() {
		return userUnits
	}
	return systemUnits
}

// systemctl is a command for the systemd that starts the daemon.
func (o Options) systemctl(args ...string) []string {
	if o.isUsers() {
		args = append([]string{"--user"}, args...)
	}
	return append([]string{"systemctl"}, args...)
}

// launchctl is a command for launchd.
func launchctl(args ...string) []string { return append([]string{"/bin/launchctl"}, args...) }

// job is the daemon for launchd, in its domain.
func (o Options) job() (domain, job string) {
	domain = "system"
	if o.isUsers() {
		domain = fmt.Sprintf("gui/%d", o.UID)
	}
	return domain, domain + "/" + api.DaemonLabel
}

// does runs a command of the system.
func (o Options) does(ctx context.Context, command []string) error {
	return o.Run(ctx, command[0], command[1:]...)
}

func (l *lister) services() {
	for _, f := range l.o.serviceFiles() {
		l.add(api.UninstallItem{Kind: api.UninstallService, Path: f.path, Stays: f.stays})
	}
}

// stopServices has the system start the daemon no more, and ends it where it runs.
func (o Options) stopServices(ctx context.Context) []api.UninstallFailure {
	var stop []string
	_, job := o.job()
	switch {
	case o.IsAlone:
	case o.OS == "darwin":
		if !o.isUsers() {
			_ = o.Run(ctx, "/usr/sbin/pkgutil", "--forget", packageReceipt) // where the package has installed it
		}
		if o.does(ctx, launchctl("print", job)) == nil { // it is loaded
			stop = launchctl("bootout", job)
		}
	case o.does(ctx, o.systemctl("cat", "fulmend.service")) == nil: // systemd runs, and knows it
		stop = o.systemctl(append([]string{"disable", "--now"}, o.units()...)...)
	}
	if stop != nil {
		if err := o.does(ctx, stop); err != nil {
			return []api.UninstallFailure{failure("run", stop[0], err)}
		}
	}
	return nil
}

// RemoveServices has the system start the daemon no more, which it ends. It may be
// called by the daemon itself; the files go first then.
func RemoveServices(ctx context.Context, o Options) []api.UninstallFailure {
	l := &lister{o: o}
	l.services()
	_, _, failed := take(l.items)
	return append(failed, o.stopServices(ctx)...)
}

// programNames are Fulmen's programs.
var programNames = []string{"fulmen", "fulmend", "fulmen-shim", "fulmen-rank", "fulmen-app"}

// programs lists the programs, or the app that they lie in, and the link to it. Last
// of all: a run that was interrupted needs them.
func (l *lister) programs() {
	if l.o.Programs == "" {
		return
	}
	app := bundle.Containing(filepath.Join(l.o.Programs, "fulmend"))
	if link := l.o.at("/usr/local/bin/fulmen"); !l.o.IsAlone {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, cmp.Or(app, l.o.Programs)+string(filepath.Separator)) {
			l.add(api.UninstallItem{Kind: api.UninstallPrograms, Path: link})
		}
	}
	const byHand = "Fulmen's installer did not put it there: remove it by hand."
	if app != "" {
		item := api.UninstallItem{Kind: api.UninstallPrograms, Path: app}
		if l.o.IsAlone || filepath.Base(filepath.Dir(app)) != "Applications" {
			item.Stays = byHand
		}
		l.add(item)
		return
	}
	for _, name := range programNames {
		item := api.UninstallItem{Kind: api.UninstallPrograms, Path: filepath.Join(l.o.Programs, name)}
		if l.o.IsAlone || !l.isInstalled() {
			item.Stays = byHand
		}
		l.add(item)
	}
}

// isInstalled reports whether the programs lie where programs are installed that
// belong to no package of the system.
func (l *lister) isInstalled() bool {
	usual := []string{l.o.at("/usr/local/bin"), l.o.at("/usr/local/libexec/fulmen"), l.o.at("/opt/fulmen/bin")}
	if l.o.Folders.Mode == api.ModeUser {
		if folder, err := os.UserHomeDir(); err == nil {
			usual = append(usual, filepath.Join(folder, ".local", "bin"))
		}
	}
	return slices.Contains(usual, l.o.Programs)
}
