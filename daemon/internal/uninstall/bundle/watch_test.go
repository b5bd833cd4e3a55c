package bundle_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/internal/uninstall/bundle"
	"fulmen/native/nativetest"
)

const identifier = "org.example.app"

// write makes a bundle.
func write(t *testing.T, path, version string) {
	t.Helper()
	text := fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>CFBundleURLTypes</key><array><dict><key>CFBundleIdentifier</key><string>another</string></dict></array>
<key>CFBundleIdentifier</key><string>%s</string>
<key>LSUIElement</key><true/>
<key>CFBundleShortVersionString</key><string>%s</string>
</dict></plist>`, identifier, version)
	contents := filepath.Join(path, "Contents")
	if err := os.MkdirAll(contents, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(contents, "Info.plist"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// followed is a bundle that is watched, on a clock moved by hand.
type followed struct {
	path     string
	clock    *nativetest.Clock
	verdicts chan bundle.Verdict
	ended    chan error
}

func follow(t *testing.T, elsewhere string) *followed {
	t.Helper()
	f := &followed{
		path: filepath.Join(t.TempDir(), "Example.app"), clock: nativetest.NewClock(time.Date(2026, 11, 22, 1, 0, 0, 0, time.UTC)),
		verdicts: make(chan bundle.Verdict, 8), ended: make(chan error, 1),
	}
	write(t, f.path, "1.0")
	began, once := make(chan struct{}), sync.Once{}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		f.ended <- bundle.Watch(ctx, bundle.Config{
			Path: f.path, Clock: f.clock,
			Version: func(path string) string {
				defer once.Do(func() { close(began) })
				return bundle.VersionOf(path, identifier)
			},
			Elsewhere: func(context.Context) string { return elsewhere },
			Reported:  func(_ context.Context, v bundle.Verdict, _ bundle.Seen) { f.verdicts <- v },
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-f.ended
	})
	<-began // the folder is watched
	return f
}

// verdict moves the clock a little at a time until there is a verdict: the system
// tells of a change when it likes, and who looks does so at leisure.
func (f *followed) verdict(t *testing.T) bundle.Verdict {
	t.Helper()
	for range 20000 {
		select {
		case v := <-f.verdicts:
			return v
		case <-time.After(time.Millisecond):
			f.clock.Advance(100 * time.Millisecond)
		}
	}
	t.Fatal("there is no verdict")
	return ""
}

func TestWatchTrashed(t *testing.T) {
	is := is.New(t)
	f := follow(t, "")
	began := f.clock.Boot()
	is.NoErr(os.Rename(f.path, filepath.Join(t.TempDir(), "Example.app")))
	is.Equal(f.verdict(t), bundle.Trashed)
	is.True(f.clock.Boot()-began >= bundle.GoneFor)
	is.NoErr(<-f.ended) // it was thrown away: nothing more is looked at
	f.ended <- nil
}

func TestWatchMovedAndReplaced(t *testing.T) {
	is := is.New(t)
	f := follow(t, "/somewhere/Example.app")
	began := f.clock.Boot()
	is.NoErr(os.Rename(f.path, filepath.Join(t.TempDir(), "Example.app")))
	is.Equal(f.verdict(t), bundle.Moved)
	is.True(f.clock.Boot()-began >= bundle.GoneFor)
	write(t, f.path, "1.1") // another one comes
	is.Equal(f.verdict(t), bundle.Replaced)
}

func TestVersionOf(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "Example.app")
	is.Equal(bundle.VersionOf(path, identifier), "")
	write(t, path, "1.0")
	first := bundle.VersionOf(path, identifier)
	is.True(first != "")
	is.Equal(bundle.VersionOf(path, "another"), "") // the one in the list counts for nothing
	write(t, path, "1.1")
	is.True(bundle.VersionOf(path, identifier) != first)
	is.NoErr(os.WriteFile(filepath.Join(path, "Contents", "Info.plist"), []byte("bplist00"), 0o644))
	is.Equal(bundle.VersionOf(path, identifier), "")
}

func TestContaining(t *testing.T) {
	is := is.New(t)
	is.Equal(bundle.Containing("/Applications/Fulmen.app/Contents/MacOS/fulmend"), "/Applications/Fulmen.app")
	is.Equal(bundle.Containing("/usr/local/bin/fulmend"), "")
	is.Equal(bundle.Containing("/Applications/Fulmen/Contents/MacOS/fulmend"), "")
}
