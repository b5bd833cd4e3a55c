package daemon

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/daemon/internal/uninstall"
	"fulmen/daemon/internal/uninstall/bundle"
	"fulmen/native"
)

const (
	// putBackWithin bounds the putting back of network settings, and the end of ranks,
	// once the app was thrown away.
	putBackWithin = time.Minute
	// searchWithin bounds Spotlight's answer to where else the app is.
	searchWithin = 10 * time.Second
)

// followBundle follows the app that this daemon was started from, where there is
// one, until ctx ends. One that a person has thrown away takes with it what it has
// changed on this Mac; one that is replaced is an upgrade, and stays out of here.
func (d *daemon) followBundle(ctx context.Context, stop context.CancelCauseFunc) {
	path := d.options.Bundle
	if path == "" && d.options.Simulation == nil {
		path = bundle.Containing(d.program)
	}
	if path == "" {
		return
	}
	log := d.logs.Part("uninstall")
	err := bundle.Watch(ctx, bundle.Config{
		Path: path, Clock: d.platform.Clock, GoneFor: d.options.BundleGone,
		Version:   func(path string) string { return bundle.VersionOf(path, api.BundleID) },
		Elsewhere: func(ctx context.Context) string { return d.bundleElsewhere(ctx, path) },
		Told: func(ctx context.Context, v bundle.Verdict, seen bundle.Seen) {
			log.Info("the app is not where it was", "path", path, "verdict", string(v), "version", seen.Version, "elsewhere", seen.Elsewhere)
			if v == bundle.Trashed {
				d.thrownAway(ctx, stop)
			}
		},
	})
	if err != nil && ctx.Err() == nil {
		log.Warn("that the app is thrown away would not be noticed", "path", path, "error", err)
	}
}

// thrownAway puts back what Fulmen has changed on this Mac, ends its ranks and its
// service, and then the daemon. What could not be put back stays recorded, and the
// next installation offers it. State, logs and what jobs have printed stay: the app
// may be taken out of the trash.
func (d *daemon) thrownAway(ctx context.Context, stop context.CancelCauseFunc) {
	log := d.logs.Part("uninstall")
	within, cancel := native.WithTimeout(ctx, d.platform.Clock, putBackWithin, "the settings for RDMA")
	defer cancel()
	if err := d.changes.UndoAll(within); err != nil {
		log.Error("not everything could be put back; the record stays", "file", d.folders.UndoFile(), "error", err)
	}
	d.departure.EndRanks(within, api.SelfStopping, api.ReasonStopping)
	o, err := uninstalling(d.environment())
	if err == nil && !o.IsAlone {
		// What launchd holds ends with its job, and this daemon with it: nothing follows.
		for _, failure := range uninstall.RemoveServices(ctx, o) {
			log.Error("the service could not be removed", "path", failure.Path, "error", failure.Message)
		}
	}
	stop(nil)
}

// environment is that in which the folders were found.
func (d *daemon) environment() home.Environment {
	if d.options.Home.Getenv != nil {
		return d.options.Home
	}
	return home.Process()
}

// bundleElsewhere finds the app at another place than before, and in no trash: where
// apps are, and where Spotlight knows one. It is asked once, a minute after the app
// was gone.
func (d *daemon) bundleElsewhere(ctx context.Context, before string) string {
	name := filepath.Base(before)
	places := []string{filepath.Join("/Applications", name), filepath.Join("/Applications/Utilities", name)}
	if folders, err := filepath.Glob(filepath.Join("/Users/*/Applications", name)); err == nil {
		places = append(places, folders...)
	}
	if d.platform.Name == "darwin" {
		ctx, cancel := context.WithTimeout(ctx, searchWithin)
		defer cancel()
		if found, err := exec.CommandContext(ctx, "/usr/bin/mdfind", "kMDItemCFBundleIdentifier == '"+api.BundleID+"'").Output(); err == nil {
			for line := range bytes.Lines(found) {
				places = append(places, strings.TrimSuffix(string(line), "\n"))
			}
		}
	}
	for _, path := range places {
		if path != before && !isInTrash(path) && bundle.VersionOf(path, api.BundleID) != "" {
			return path
		}
	}
	return ""
}

// isInTrash reports whether a path lies in somebody's trash, or in that of a volume.
func isInTrash(path string) bool {
	for _, part := range strings.Split(path, string(os.PathSeparator)) {
		if part == ".Trash" || part == ".Trashes" {
			return true
		}
	}
	return false
}
