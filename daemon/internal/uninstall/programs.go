package uninstall

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/uninstall/bundle"
)

// programNames are Fulmen's programs.
func programNames() []string {
	return []string{"fulmen", "fulmend", "fulmen-shim", "fulmen-rank", "fulmen-app"}
}

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
	const byHand = "It lies where Fulmen's installer puts nothing: remove it by hand."
	if app != "" {
		item := api.UninstallItem{Kind: api.UninstallPrograms, Path: app}
		if l.o.IsAlone || filepath.Base(filepath.Dir(app)) != "Applications" {
			item.Stays = byHand
		}
		l.add(item)
		return
	}
	for _, name := range programNames() {
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
