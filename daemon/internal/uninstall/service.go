package uninstall

import (
	"context"
	"os"
	"path/filepath"

	"fulmen/daemon/api"
)

// launchDaemons is where launchd finds the daemons of packages; that of the app lies
// in its bundle.
const launchDaemons = "/Library/LaunchDaemons"

// packageReceipt is what the installer has noted of the package.
const packageReceipt = "org.fulmen.pkg"

// units are those of systemd, what starts the daemon before the daemon.
func units() []string { return []string{"fulmend.socket", "fulmend-api.socket", "fulmend.service"} }

// unitFolders are where units may lie that no package of the system has put there.
func unitFolders() []string {
	return []string{"/etc/systemd/system", "/usr/local/lib/systemd/system"}
}

// packagedUnits is where the system's packages put theirs; /lib leads there.
const packagedUnits = "/usr/lib/systemd/system"

// hasService reports whether the system may start the daemon.
func (o Options) hasService() bool { return !o.IsAlone && o.Folders.Mode == api.ModeSystem }

func (l *lister) services() {
	switch {
	case !l.o.hasService():
	case l.o.OS == "darwin":
		l.add(api.UninstallItem{Kind: api.UninstallService, Path: l.o.at(filepath.Join(launchDaemons, api.DaemonLabel+".plist"))})
	default:
		for _, folder := range unitFolders() {
			for _, unit := range units() {
				l.add(api.UninstallItem{Kind: api.UninstallService, Path: l.o.at(filepath.Join(folder, unit))})
				l.add(api.UninstallItem{Kind: api.UninstallService, Path: l.o.at(filepath.Join(folder, unit+".d"))})
			}
		}
		for _, unit := range units() {
			l.add(api.UninstallItem{Kind: api.UninstallService, Path: l.o.at(filepath.Join(packagedUnits, unit)),
				Stays: "A package of the system has put it there: remove that package."})
		}
	}
}

// stopServices has the system start the daemon no more, and ends it where it runs.
func (o Options) stopServices(ctx context.Context) []api.UninstallFailure {
	var failed []api.UninstallFailure
	run := func(name string, args ...string) {
		if err := o.Run(ctx, name, args...); err != nil {
			failed = append(failed, failure("run", name, err))
		}
	}
	switch {
	case !o.hasService():
	case o.OS == "darwin":
		_ = o.Run(ctx, "/usr/sbin/pkgutil", "--forget", packageReceipt)              // where the package has installed it
		if o.Run(ctx, "/bin/launchctl", "print", "system/"+api.DaemonLabel) == nil { // it is loaded
			run("/bin/launchctl", "bootout", "system/"+api.DaemonLabel)
		}
	case o.Run(ctx, "systemctl", "cat", units()[2]) == nil: // systemd runs, and knows it
		run("systemctl", append([]string{"disable", "--now"}, units()...)...)
	}
	return failed
}

// RemoveServices has the system start the daemon no more, which it ends. It may be
// called by the daemon itself; the files go first then.
func RemoveServices(ctx context.Context, o Options) []api.UninstallFailure {
	l := &lister{o: o}
	l.services()
	var failed []api.UninstallFailure
	for _, item := range l.items {
		if item.Stays != "" {
			continue
		}
		if err := os.RemoveAll(item.Path); err != nil {
			failed = append(failed, failure("remove", item.Path, err))
		}
	}
	return append(failed, o.stopServices(ctx)...)
}

// forgetServices has the system forget units whose files are gone.
func (o Options) forgetServices(ctx context.Context) {
	if o.hasService() && o.OS == "linux" {
		_ = o.Run(ctx, "systemctl", "daemon-reload") // without systemd there is nothing to forget
	}
}
