package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"fulmen/native"
	"fulmen/native/plist"
	"fulmen/native/waker"
)

// settle is the quiet after the last event at which it is looked: copying a bundle
// is many events.
const settle = 500 * time.Millisecond

// Config is what is watched.
type Config struct {
	// Path is the bundle's.
	Path string
	// Clock is what the minute runs on.
	Clock native.Clock
	// GoneFor is another time than [GoneFor]; 0 is that.
	GoneFor time.Duration
	// Version reads the version of the bundle at a path; empty where there is none of
	// this app.
	Version func(path string) string
	// Elsewhere finds a bundle of this app at another place, and in no trash. It is
	// called once, when the minute is over.
	Elsewhere func(ctx context.Context) string
	// Reported hears of each verdict that is not Here or Gone, one at a time.
	Reported func(ctx context.Context, v Verdict, seen Seen)
}

// Watch follows a bundle until ctx ends or it was thrown away. The error says why
// it cannot be followed.
func Watch(ctx context.Context, c Config) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close()
	// The folder above it tells when it goes and comes; its own Contents tell where
	// it is replaced in place.
	folder := filepath.Dir(c.Path)
	if err := watcher.Add(folder); err != nil {
		return err
	}
	inside := filepath.Join(c.Path, "Contents")
	follow := func() { _ = watcher.Add(inside) } // it may be gone just now
	follow()
	state := Began(c.Version(c.Path))
	state.goneFor = cmp.Or(c.GoneFor, GoneFor)
	again := waker.New()
	var timer native.Timer
	stop := func() {
		if timer != nil {
			timer.Stop()
		}
	}
	defer func() { stop() }()
	again.Wake()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, isOpen := <-watcher.Events:
			switch {
			case !isOpen:
				return errors.New("the bundle's folder is no longer watched")
			case event.Name == c.Path || filepath.Dir(event.Name) == inside || event.Name == folder:
				stop()
				timer = c.Clock.AfterFunc(settle, again.Wake)
			}
			continue
		case <-watcher.Errors: // events were lost
		case <-again:
		}
		follow()
		now := c.Clock.Boot()
		seen := Seen{Version: c.Version(c.Path)}
		next, verdict, in := Next(state, now, seen)
		if verdict == Trashed {
			seen.Elsewhere = c.Elsewhere(ctx)
			next, verdict, in = Next(state, now, seen)
		}
		state = next
		stop()
		if in > 0 {
			timer = c.Clock.AfterFunc(in, again.Wake)
		}
		if verdict == Here || verdict == Gone {
			continue
		}
		c.Reported(ctx, verdict, seen)
		if verdict == Trashed {
			return nil
		}
	}
}

// Containing is the bundle that a program lies in, as BUNDLE.app/Contents/MacOS has
// it; empty where it lies in none.
func Containing(program string) string {
	folder := filepath.Dir(program)
	contents := filepath.Dir(folder)
	path := filepath.Dir(contents)
	if filepath.Base(folder) != "MacOS" || filepath.Base(contents) != "Contents" || filepath.Ext(path) != ".app" {
		return ""
	}
	return path
}

// maxInfo bounds what is read of an Info.plist.
const maxInfo = 1 << 20

// VersionOf tells one bundle of an app at a path from another: by the versions in
// its Info.plist, and by the folder itself, since two builds may have the same ones.
// Empty where there is no bundle with that identifier.
func VersionOf(path, identifier string) string {
	file, err := os.Open(filepath.Join(path, "Contents", "Info.plist"))
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxInfo))
	if err != nil {
		return ""
	}
	list, err := plist.Parse(text)
	if err != nil {
		return ""
	}
	info, isDictionary := list.(map[string]any)
	if !isDictionary || info["CFBundleIdentifier"] != identifier {
		return ""
	}
	folder, err := os.Stat(path)
	if err != nil {
		return ""
	}
	inode := uint64(0)
	if s, ok := folder.Sys().(*syscall.Stat_t); ok {
		inode = s.Ino
	}
	return fmt.Sprintf("%v (%v), %d", info["CFBundleShortVersionString"], info["CFBundleVersion"], inode)
}
