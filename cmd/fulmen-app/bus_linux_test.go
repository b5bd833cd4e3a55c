package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// timeout bounds whatever a test waits for.
const timeout = 3 * time.Minute

// bus is a session bus of the test's own, with the part of a desktop that shows
// menus and notifications.
type bus struct {
	t        *testing.T
	address  string
	conn     *dbus.Conn
	items    chan [2]string // who registered a picture, and where it is
	notified chan string
	changed  chan *dbus.Signal
}

// busConfig is a session bus that any account may use.
const busConfig = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
  </policy>
</busconfig>
`

// newBus starts a bus, and plays the desktop on it.
func newBus(t *testing.T) *bus {
	t.Helper()
	path, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Skip("dbus-daemon is not installed: apt-get install dbus-daemon")
	}
	// The app runs as the person whose jobs they are, and the test may be root.
	config := filepath.Join(t.TempDir(), "bus.conf")
	if err := os.WriteFile(config, []byte(busConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--config-file="+config, "--nofork", "--print-address=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	b := &bus{t: t, address: strings.TrimSpace(line), items: make(chan [2]string, 8), notified: make(chan string, 64), changed: make(chan *dbus.Signal, 1024)}
	if b.conn, err = dbus.Connect(b.address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.conn.Close() })
	for _, part := range []struct {
		object any
		path   dbus.ObjectPath
		name   string
	}{{watcher{b}, "/StatusNotifierWatcher", "org.kde.StatusNotifierWatcher"}, {notifications{b}, "/org/freedesktop/Notifications", "org.freedesktop.Notifications"}} {
		err := b.conn.Export(part.object, part.path, part.name)
		if err == nil {
			_, err = b.conn.RequestName(part.name, dbus.NameFlagDoNotQueue)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := b.conn.AddMatchSignal(dbus.WithMatchInterface("com.canonical.dbusmenu")); err != nil {
		t.Fatal(err)
	}
	b.conn.Signal(b.changed)
	return b
}

// watcher is where pictures of the menu bar register.
type watcher struct{ b *bus }

// RegisterStatusNotifierItem is a picture's.
func (w watcher) RegisterStatusNotifierItem(path string, sender dbus.Sender) *dbus.Error {
	w.b.items <- [2]string{string(sender), path}
	return nil
}

// notifications takes what the app tells.
type notifications struct{ b *bus }

// Notify is a notification.
func (n notifications) Notify(_ string, _ uint32, _, title, text string, _ []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	n.b.notified <- title + "\n" + text
	return 1, nil
}

// line is a line of the menu, as the desktop got it.
type line struct {
	id       int32
	title    string
	disabled bool
	checked  bool
	lines    []line
}

// menu reads the menus of one picture.
type menu struct {
	*bus
	object dbus.BusObject
	item   dbus.BusObject
}

// appears waits for the picture of the app.
func (b *bus) appears(ctx context.Context) *menu {
	b.t.Helper()
	select {
	case who := <-b.items:
		return &menu{b, b.conn.Object(who[0], "/StatusNotifierItem/menu"), b.conn.Object(who[0], dbus.ObjectPath(who[1]))}
	case <-ctx.Done():
		b.t.Fatal("no picture in the menu bar")
		return nil
	}
}

// read is the menu as it is now. The first answer of systray holds the upper
// lines only, so one that asks again is told all.
func (m *menu) read() ([]line, error) {
	var revision uint32
	var root layout
	if err := m.object.Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &root); err != nil {
		return nil, err
	}
	return lines(root)
}

type layout struct {
	ID         int32
	Properties map[string]dbus.Variant
	Children   []dbus.Variant
}

func lines(l layout) ([]line, error) {
	var all []line
	for _, child := range l.Children {
		var c layout
		if err := dbus.Store([]any{child.Value()}, &c); err != nil {
			return nil, err
		}
		below, err := lines(c)
		if err != nil {
			return nil, err
		}
		title, _ := c.Properties["label"].Value().(string)
		enabled, reports := c.Properties["enabled"].Value().(bool)
		state, _ := c.Properties["toggle-state"].Value().(int32)
		all = append(all, line{c.ID, title, reports && !enabled, state == 1, below})
	}
	return all, nil
}

// errMissing is a line that is not there yet.
var errMissing = errors.New("it is not there")

// find finds a line by the titles on the way to it, each by how it begins. A problem of a
// Mac begins with the Mac's name too, so that all that begin so are looked through.
func find(all []line, titles ...string) (line, error) {
	missing := fmt.Errorf("%q: %w", titles[0], errMissing)
	for _, l := range all {
		if !strings.HasPrefix(l.title, titles[0]) {
			continue
		}
		if len(titles) == 1 {
			return l, nil
		}
		found, err := find(l.lines, titles[1:]...)
		if err == nil {
			return found, nil
		}
		missing = err
	}
	return line{}, missing
}

// awaits waits until the menu is as it should be.
func (m *menu) awaits(what string, is func([]line) bool) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), timeout)
	defer cancel()
	for {
		all, err := m.read()
		if err == nil && is(all) {
			return
		}
		select {
		case <-m.changed:
		case <-ctx.Done():
			m.t.Fatalf("waited for %s; the menu is (%v):\n%s", what, err, drawn(all, ""))
		}
	}
}

// shows waits for a line.
func (m *menu) shows(titles ...string) (found line) {
	m.t.Helper()
	m.awaits(strings.Join(titles, " > "), func(all []line) bool {
		var err error
		found, err = find(all, titles...)
		return err == nil
	})
	return found
}

// checks waits until a line has its mark.
func (m *menu) checks(titles ...string) {
	m.t.Helper()
	m.awaits("the mark of "+strings.Join(titles, " > "), func(all []line) bool {
		l, err := find(all, titles...)
		return err == nil && l.checked
	})
}

// lacks waits until a line is gone.
func (m *menu) lacks(titles ...string) {
	m.t.Helper()
	m.awaits("the end of "+strings.Join(titles, " > "), func(all []line) bool {
		_, err := find(all, titles...)
		return err != nil
	})
}

// click clicks a line, which is waited for. Where the menu is drawn anew between the look
// and the click, the line has another number by then.
func (m *menu) click(titles ...string) {
	m.t.Helper()
	for until := time.Now().Add(timeout); ; {
		l := m.shows(titles...)
		err := m.object.Call("com.canonical.dbusmenu.Event", 0, l.id, "clicked", dbus.MakeVariant(""), uint32(0)).Err
		switch {
		case err == nil:
			return
		case !strings.Contains(err.Error(), "no menu item") || time.Now().After(until):
			m.t.Fatal(err)
		}
	}
}

func drawn(all []line, indent string) string {
	var out strings.Builder
	for _, l := range all {
		fmt.Fprintf(&out, "%s%s (disabled %t, checked %t)\n%s", indent, l.title, l.disabled, l.checked, drawn(l.lines, indent+"    "))
	}
	return out.String()
}
