package linux

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"fulmen/native"
)

// openPressure arms two triggers, for some and for all tasks, and the timer
// that says when to look again.
func openPressure(m *machine, file string) ([]listener, error) {
	calm, err := openCalm(m)
	if err != nil {
		return nil, refused(native.AreaMemory, "timerfd", err)
	}
	opened := []listener{calm}
	// Without the privilege CAP_SYS_RESOURCE the kernel (6.4 and later) takes
	// windows of whole 2 s only; before, it takes none. In micro-seconds.
	for _, t := range []struct {
		full    bool
		demands []string
	}{
		{false, []string{"some 150000 1000000", "some 300000 2000000"}},
		{true, []string{"full 100000 1000000", "full 200000 2000000"}},
	} {
		fd, err := armTrigger(file, t.demands)
		if err != nil {
			return nil, errors.Join(refused(native.AreaMemory, "pressure trigger", err), closeAll(opened))
		}
		opened = append(opened, &trigger{descriptor: descriptor(fd), machine: m, full: t.full, calm: calm})
	}
	calm.ifPressed()
	return opened, nil
}

// armTrigger asks for the first of the demands that the kernel accepts.
func armTrigger(file string, demands []string) (int, error) {
	fd, err := unix.Open(file, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	for _, demand := range demands {
		if _, err = unix.Write(fd, append([]byte(demand), 0)); err == nil {
			return fd, nil
		}
	}
	_ = unix.Close(fd) // the refusal is what counts
	return -1, err
}

// trigger is an armed trigger. It speaks once a window at most, however long
// the stall lasts.
type trigger struct {
	descriptor
	machine *machine
	full    bool
	calm    *calm
}

func (*trigger) interest() int16 { return unix.POLLPRI }

func (t *trigger) ready(revents int16, report announce) error {
	if revents&unix.POLLPRI == 0 {
		return errors.New("the control group is gone")
	}
	t.machine.stalls.note(t.full, t.machine.clock.Boot())
	t.calm.arm()
	if t.full {
		report(native.AreaMemory, "psi.memory", "full")
	} else {
		report(native.AreaMemory, "psi.memory", "some")
	}
	return nil
}

// calm is the one timer that follows a stall: the kernel announces no end of
// pressure. It counts the machine's sleep and is disarmed in calm times.
type calm struct {
	descriptor
	machine *machine
}

func openCalm(m *machine) (*calm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	return &calm{descriptor: descriptor(fd), machine: m}, err
}

func (c *calm) arm() {
	// A millisecond more, so that the stall is past when somebody reads.
	after := unix.NsecToTimespec(int64(c.machine.stalls.hold + time.Millisecond))
	// It fails for a descriptor that is no timer only.
	_ = unix.TimerfdSettime(int(c.descriptor), 0, &unix.ItimerSpec{Value: after}, nil)
}

// ifPressed arms the timer when the averages are still above a level.
func (c *calm) ifPressed() {
	var memory native.Memory
	c.machine.setPressure(&memory)
	if memory.Pressure == native.PressureWarning || memory.Pressure == native.PressureCritical {
		c.arm()
	}
}

func (*calm) interest() int16 { return unix.POLLIN }

func (c *calm) ready(_ int16, report announce) error {
	if _, err := unix.Read(int(c.descriptor), make([]byte, 8)); err != nil && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
		return err
	}
	c.ifPressed() // first: who hears of this and finds the pressure still there hears once more
	report(native.AreaMemory, "psi.calm", "")
	return nil
}
