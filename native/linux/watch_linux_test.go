package linux

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"fulmen/native"
)

// timeout is how long a hint may take on a busy machine.
const timeout = 2 * time.Minute

// hintWatcher watches a platform and keeps what it hears.
type hintWatcher struct {
	t     *testing.T
	p     native.Platform
	hints chan native.Hint
	stop  func() error
}

func listen(t *testing.T, p native.Platform) *hintWatcher {
	is := is.New(t)
	e := &hintWatcher{t: t, p: p, hints: make(chan native.Hint, 10_000)}
	var err error
	e.stop, err = p.Facts.Watch(func(h native.Hint) { e.hints <- h })
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(e.stop()) })
	return e
}

// after makes a change and waits until a hint of that source and subject has
// come and a snapshot then says what it should.
func (e *hintWatcher) after(what string, change func() error, area native.Area, source, subject string, holds func(native.Snapshot) bool) {
	e.t.Helper()
	began := e.p.Clock.Boot().Microseconds()
	if err := change(); err != nil {
		e.t.Fatalf("%s: %v", what, err)
	}
	deadline := time.After(timeout)
	received := false
	for {
		select {
		case h := <-e.hints:
			if h.BootUS < began {
				continue // of an earlier change
			}
			received = received || h.Area == area && h.Source == source && h.Subject == subject
		case <-deadline:
			e.t.Fatalf("%s: no hint %s of %q came, or the facts did not follow", what, source, subject)
		}
		s, err := e.p.Facts.Snapshot(e.t.Context(), area)
		if err != nil {
			e.t.Fatal(err)
		}
		if problems := s.Check([]native.Area{area}); problems != nil {
			e.t.Fatalf("%s: %v", what, problems)
		}
		if received && holds(s) {
			return
		}
	}
}

// openDescriptors lists what this process has open.
func openDescriptors(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestThePrettyNameIsHeard(t *testing.T) {
	is := is.New(t)
	etc := t.TempDir()
	p, err := New(Options{Etc: etc})
	is.NoErr(err)
	defer p.Close()
	e := listen(t, p)
	draft := filepath.Join(etc, ".machine-info")
	is.NoErr(os.WriteFile(draft, []byte("PRETTY_HOSTNAME=\"Ada's machine\"\n"), 0o600))
	rename := func() error { return os.Rename(draft, filepath.Join(etc, "machine-info")) }
	e.after("rename", rename, native.AreaIdentity, "inotify.changed", "machine-info", func(s native.Snapshot) bool {
		return s.Identity.Name == "Ada's machine"
	})
	remove := func() error { return os.Remove(filepath.Join(etc, "machine-info")) }
	e.after("remove", remove, native.AreaIdentity, "inotify.changed", "machine-info", func(s native.Snapshot) bool {
		return s.Identity.Name == s.Identity.HostName
	})
}

func TestTheHostNameIsHeard(t *testing.T) {
	is := is.New(t)
	unshare(t, unix.CLONE_NEWUTS)
	p, err := New(Options{})
	is.NoErr(err)
	defer p.Close()
	e := listen(t, p)
	rename := func() error { return unix.Sethostname([]byte("fulmen-test.example.net")) }
	e.after("sethostname", rename, native.AreaIdentity, "hostname.changed", "", func(s native.Snapshot) bool {
		return s.Identity.HostName == "fulmen-test"
	})
}

func TestStopReleasesEverything(t *testing.T) {
	is := is.New(t)
	p, err := New(Options{})
	is.NoErr(err)
	before := openDescriptors(t)
	for range 3 {
		stop, err := p.Facts.Watch(func(native.Hint) {})
		is.NoErr(err)
		is.True(openDescriptors(t) > before)
		is.NoErr(stop())
		is.NoErr(stop()) // twice is once
		is.Equal(openDescriptors(t), before)
	}
	_, err = p.Facts.Watch(func(native.Hint) {})
	is.NoErr(err)
	_, err = p.Facts.Capabilities(t.Context())
	is.NoErr(err)
	is.NoErr(p.Close()) // ends the watch that nobody ended
	is.Equal(openDescriptors(t), before)
	_, err = p.Facts.Watch(func(native.Hint) {})
	is.Equal(err, native.ErrClosed)
	_, err = p.Facts.Capabilities(t.Context())
	is.Equal(err, native.ErrClosed)
}

func TestParseInotify(t *testing.T) {
	is := is.New(t)
	// watch 1, IN_MOVED_TO, cookie 0, 16 bytes of name; then one without name; then a torn one.
	event := func(name string, padded int) []byte {
		data := make([]byte, unix.SizeofInotifyEvent+padded)
		data[0], data[4], data[12] = 1, 0x80, byte(padded)
		copy(data[unix.SizeofInotifyEvent:], name)
		return data
	}
	data := slices.Concat(event("machine-info", 16), event("", 0), event("torn", 16)[:20])
	is.Equal(parseInotify(data), []string{"machine-info", ""})
}
