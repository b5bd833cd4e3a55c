package linux

import (
	"net"
	"testing"
	"testing/fstest"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"fulmen/native"
	"fulmen/native/nativetest"
)

// urgent stands in for a trigger's file: like it, a TCP socket is ready with
// POLLPRI when its peer sends a byte out of band.
type urgent struct{ *trigger }

func (u urgent) ready(revents int16, report announce) error {
	if revents&unix.POLLPRI != 0 {
		if _, _, err := unix.Recvfrom(u.fd(), make([]byte, 1), unix.MSG_OOB); err != nil {
			return err
		}
	}
	return u.trigger.ready(revents, report)
}

// urgentPair returns a descriptor for poll(2), and the connection that makes it ready.
func urgentPair(t *testing.T) (descriptor, *net.TCPConn) {
	is := is.New(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	defer l.Close()
	far, err := net.Dial("tcp", l.Addr().String())
	is.NoErr(err)
	near, err := l.Accept()
	is.NoErr(err)
	file, err := near.(*net.TCPConn).File()
	is.NoErr(err)
	is.NoErr(near.Close())
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	is.NoErr(err)
	is.NoErr(file.Close())
	t.Cleanup(func() { far.Close() })
	return descriptor(fd), far.(*net.TCPConn)
}

func raise(t *testing.T, c *net.TCPConn) func() error {
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	return func() error {
		var sent error
		err := raw.Control(func(fd uintptr) { sent = unix.Sendto(int(fd), []byte{1}, unix.MSG_OOB, nil) })
		if err != nil {
			return err
		}
		return sent
	}
}

// TestStalls makes the two triggers speak: the level follows at once, though the
// averages are calm, and a hint says when it has passed. A stall passes when the
// test moves the clock, however long it takes to look at it.
func TestStalls(t *testing.T) {
	is := is.New(t)
	clock := nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	some, raiseSome := urgentPair(t)
	full, raiseFull := urgentPair(t)
	r := recording{fstest.MapFS{"proc/pressure/memory": {Data: []byte("some avg10=0.00 avg60=0 avg300=0 total=0\nfull avg10=0.00\n")}}, nil}
	m := &machine{tree: r.tree(t), clock: clock, stalls: stalls{hold: 20 * time.Millisecond}}
	m.sources = []hintSource{{[]native.Area{native.AreaMemory}, func(m *machine) ([]listener, error) {
		calm, err := openCalm(m)
		return []listener{
			urgent{&trigger{descriptor: some, machine: m, calm: calm}},
			urgent{&trigger{descriptor: full, machine: m, full: true, calm: calm}}, calm,
		}, err
	}}}
	p := native.Platform{Facts: m, Clock: clock}
	e := listen(t, p)
	level := func(want native.Pressure) func(native.Snapshot) bool {
		return func(s native.Snapshot) bool { return s.Memory.Pressure == want }
	}
	passes := func() {
		clock.Advance(m.stalls.hold)
		e.after("it passes", func() error { return nil }, native.AreaMemory, "psi.calm", "", level(native.PressureNormal))
	}
	e.after("some stall", raise(t, raiseSome), native.AreaMemory, "psi.memory", "some", level(native.PressureWarning))
	passes()
	e.after("all stall", raise(t, raiseFull), native.AreaMemory, "psi.memory", "full", level(native.PressureCritical))
	passes()

	// A trigger that dies says so once, and takes none of the others with it.
	die := func() error {
		if err := raiseSome.SetLinger(0); err != nil {
			return err
		}
		return raiseSome.Close()
	}
	e.after("a trigger dies", die, native.AreaMemory, "watch.lost", "the control group is gone", level(native.PressureNormal))
	e.after("all stall again", raise(t, raiseFull), native.AreaMemory, "psi.memory", "full", level(native.PressureCritical))
	is.NoErr(e.stop())
	for len(e.hints) > 0 {
		is.True((<-e.hints).Source != "watch.lost")
	}
}

// TestTheTimerIsArmedUnderPressure: whoever begins to watch while the averages
// are high is told to look again.
func TestTheTimerIsArmedUnderPressure(t *testing.T) {
	is := is.New(t)
	clock, err := native.SystemClock()
	is.NoErr(err)
	r := readRecording(t, "laptop")
	m := &machine{tree: r.tree(t), clock: clock, stalls: stalls{hold: time.Millisecond}}
	m.sources = []hintSource{{[]native.Area{native.AreaMemory}, func(m *machine) ([]listener, error) {
		c, err := openCalm(m)
		c.ifPressed()
		return []listener{c}, err
	}}}
	e := listen(t, native.Platform{Facts: m, Clock: clock})
	for range 3 { // it is armed again as long as the pressure lasts
		e.after("time passes", func() error { return nil }, native.AreaMemory, "psi.calm", "", func(s native.Snapshot) bool {
			return s.Memory.Pressure == native.PressureWarning
		})
	}
}

// TestPressureCapability holds the answer against a trigger that is really armed.
func TestPressureCapability(t *testing.T) {
	is := is.New(t)
	p, err := New(Options{})
	is.NoErr(err)
	defer p.Close()
	caps, err := p.Facts.Capabilities(t.Context())
	is.NoErr(err)
	fd, err := armTrigger("/proc/pressure/memory", []string{"some 150000 1000000", "some 300000 2000000"})
	if err == nil {
		is.NoErr(unix.Close(fd))
	}
	is.Equal(caps[native.HintsFeature(native.AreaMemory)].Supported, err == nil)
}

func TestTriggersThatCannotBeArmed(t *testing.T) {
	is := is.New(t)
	m := &machine{}
	_, err := openPressure(m, t.TempDir()+"/memory")
	caps := native.Capabilities{}
	m.sources = []hintSource{{[]native.Area{native.AreaMemory}, func(m *machine) ([]listener, error) { return openPressure(m, t.TempDir()+"/memory") }}}
	m.canHint(caps, native.AreaMemory)
	is.True(err != nil)
	is.Equal(caps[native.HintsFeature(native.AreaMemory)].Reason, native.ReasonNoOS.With("no pressure trigger"))
}
