package linux

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"fulmen/native"
)

// workbench is a machine whose hardware the test plugs in and pulls out: its
// /sys is a temporary folder, its table of links is a variable, and the kernel's
// messages are sent by the test. They go through socket pairs that keep
// datagrams apart, and from there on through the same listeners and parsers as
// the kernel's own. Only the check of the sender is left out.
//
// What plugs and pulls something first makes the files, then sends the message,
// as the kernel does.
type workbench struct {
	t        *testing.T
	platform native.Platform
	sys      string

	mu      sync.Mutex
	tables  tables
	uevents []int // the far ends of the listeners that were opened
	routes  []int
	number  int // of the last uevent
}

func newWorkbench(t *testing.T) *workbench {
	is := is.New(t)
	w := &workbench{t: t, sys: t.TempDir(), tables: tables{Links: []link{{Index: 1, Name: "lo", Hardware: hardwareLoopback, Flags: iffUp | iffLowerUp}}}}
	o, err := Options{Sys: w.sys, Proc: t.TempDir(), Etc: t.TempDir()}.withDefaults()
	is.NoErr(err)
	m := newMachine(o)
	m.links = w.dump
	m.sources = []hintSource{
		{[]native.Area{native.AreaNetwork, native.AreaRDMA}, func(m *machine) ([]listener, error) {
			return []listener{routeEvents{w.listen(&w.routes), m.tree.hasRDMA}}, nil
		}},
		{[]native.Area{native.AreaThunderbolt, native.AreaRDMA}, func(*machine) ([]listener, error) {
			return []listener{uevents{w.listen(&w.uevents)}}, nil
		}},
	}
	w.platform, err = native.Platform{
		Name: platformName, Facts: m, Clock: o.Clock, Closers: []func() error{m.close},
	}.Complete()
	is.NoErr(err)
	t.Cleanup(func() {
		is.NoErr(w.platform.Close())
		for _, fd := range append(w.uevents, w.routes...) {
			is.NoErr(unix.Close(fd))
		}
	})
	return w
}

func (w *workbench) listen(far *[]int) netlinkGroup {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(pair[0], true)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	*far = append(*far, pair[1])
	return netlinkGroup{descriptor: descriptor(pair[0]), trusted: func(unix.Sockaddr) bool { return true }, buffer: make([]byte, netlinkBuffer)}
}

// send gives a datagram to every listener that is still open.
func (w *workbench) send(far []int, datagram []byte) {
	for _, fd := range far {
		if err := unix.Sendto(fd, datagram, 0, nil); err != nil && err != unix.ECONNREFUSED && err != unix.ECONNRESET && err != unix.EPIPE && err != unix.ENOTCONN {
			w.t.Errorf("a message of %d bytes: %v", len(datagram), err)
		}
	}
}

// uevent sends what the kernel says of a device, by its path below /sys.
func (w *workbench) uevent(action, device, subsystem string, variables ...string) {
	w.mu.Lock()
	w.number++
	lines := append([]string{action + "@" + device, "ACTION=" + action, "DEVPATH=" + device, "SUBSYSTEM=" + subsystem}, variables...)
	lines = append(lines, fmt.Sprintf("SEQNUM=%d", w.number))
	far := append([]int(nil), w.uevents...)
	w.mu.Unlock()
	w.send(far, []byte(strings.Join(lines, "\x00")+"\x00"))
}

func (w *workbench) dump() (tables, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return tables{
		Links:     append([]link(nil), w.tables.Links...),
		Addresses: append([]address(nil), w.tables.Addresses...),
		Defaults:  append([]route(nil), w.tables.Defaults...),
	}, nil
}

// edit changes the kernel's tables and sends what rtnetlink says of the
// interface.
func (w *workbench) edit(name string, change func(*tables)) {
	w.mu.Lock()
	change(&w.tables)
	far := append([]int(nil), w.routes...)
	w.mu.Unlock()
	attribute := append([]byte(name), 0)
	size := unix.SizeofRtAttr + len(attribute)
	message := make([]byte, unix.SizeofNlMsghdr+unix.SizeofIfInfomsg, 256)
	message = binary.NativeEndian.AppendUint16(message, uint16(size))
	message = binary.NativeEndian.AppendUint16(message, unix.IFLA_IFNAME)
	message = append(message, attribute...)
	for len(message)%4 != 0 {
		message = append(message, 0)
	}
	binary.NativeEndian.PutUint32(message, uint32(len(message)))
	binary.NativeEndian.PutUint16(message[4:], unix.RTM_NEWLINK)
	w.send(far, message)
}

// write makes a file below /sys, with the end of line that the kernel writes.
func (w *workbench) write(name, content string) {
	path := filepath.Join(w.sys, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(content+"\n"), 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// remove takes a file or folder below /sys away.
func (w *workbench) remove(name string) {
	if err := os.RemoveAll(filepath.Join(w.sys, name)); err != nil {
		w.t.Fatal(err)
	}
}
