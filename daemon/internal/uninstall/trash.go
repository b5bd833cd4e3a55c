package uninstall

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
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

// Trash is what is done when a person throws away the app that the daemon was started
// from. One that is replaced is an upgrade, and stays out of here.
type Trash struct {
	// Path is the app's.
	Path  string
	Clock native.Clock
	// GoneFor is how long the app must be gone before it counts; 0 is a minute.
	GoneFor time.Duration
	// HasSpotlight says that the system is asked where else the app is.
	HasSpotlight bool
	// PutBack puts back what Fulmen has changed on this Mac. What could not be put back
	// stays recorded, and the next installation offers it. Ranks are ended by EndRanks.
	PutBack  func(context.Context) error
	EndRanks func(context.Context)
	// Record is the file in which what was changed is recorded.
	Record string
	// Options are what is uninstalled.
	Options func() (Options, error)
	// Stop ends the daemon.
	Stop func()
	Log  *slog.Logger
}

// Follow follows the app until ctx ends.
func (t Trash) Follow(ctx context.Context) {
	err := bundle.Watch(ctx, bundle.Config{
		Path: t.Path, Clock: t.Clock, GoneFor: t.GoneFor,
		Version:   func(path string) string { return bundle.VersionOf(path, api.BundleID) },
		Elsewhere: t.elsewhere,
		Reported: func(ctx context.Context, v bundle.Verdict, seen bundle.Seen) {
			t.Log.Info("the app is not where it was", "path", t.Path, "verdict", string(v), "version", seen.Version, "elsewhere", seen.Elsewhere)
			if v == bundle.Trashed {
				t.thrownAway(ctx)
			}
		},
	})
	if err != nil && ctx.Err() == nil {
		t.Log.Warn("that the app is thrown away would not be noticed", "path", t.Path, "error", err)
	}
}

// thrownAway puts back what Fulmen has changed on this Mac, ends its ranks and its
// service, and then the daemon. State, logs and what jobs have printed stay: the app may
// be taken out of the trash.
func (t Trash) thrownAway(ctx context.Context) {
	within, cancel := native.WithTimeout(ctx, t.Clock, putBackWithin, "the settings for RDMA")
	defer cancel()
	if err := t.PutBack(within); err != nil {
		t.Log.Error("not everything could be put back; the record stays", "file", t.Record, "error", err)
	}
	t.EndRanks(within)
	o, err := t.Options()
	if err == nil && !o.IsAlone {
		// What launchd holds ends with its job, and this daemon with it: nothing follows.
		for _, failure := range RemoveServices(ctx, o) {
			t.Log.Error("the service could not be removed", "path", failure.Path, "error", failure.Message)
		}
	}
	t.Stop()
}

// elsewhere finds the app at another place than before, and in no trash: where
// apps are, and where Spotlight knows one. It is asked once, a minute after the app
// was gone.
func (t Trash) elsewhere(ctx context.Context) string {
	before := t.Path
	name := filepath.Base(before)
	places := []string{filepath.Join("/Applications", name), filepath.Join("/Applications/Utilities", name)}
	if folders, err := filepath.Glob(filepath.Join("/Users/*/Applications", name)); err == nil {
		places = append(places, folders...)
	}
	if t.HasSpotlight {
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
	return slices.ContainsFunc(strings.Split(path, string(os.PathSeparator)), func(part string) bool { return part == ".Trash" || part == ".Trashes" })
}
