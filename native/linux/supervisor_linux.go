package linux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fulmen/native"
	"fulmen/native/unitrecord"
)

const (
	// endsItself is how long a unit's first process may take to note how the
	// others ended, once they have.
	endsItself = time.Second
	// removeWithin bounds Remove: longer takes only what hangs in the system.
	removeWithin = 10 * time.Second
	// lookAgain is how long the end of one process is waited for before all are looked at again.
	lookAgain = 50 * time.Millisecond
)

// supervisor runs units under systemd where that runs, else as processes in
// sessions of their own, which belong to init when the daemon is gone.
type supervisor struct {
	unitrecord.Store
	systemd *systemd // nil where it does not run
	boot    string   // names this boot
}

func newSupervisor(o Options) *supervisor {
	folder := o.Units
	if folder == "" {
		folder = defaultUnits(os.Geteuid(), os.Getenv("XDG_RUNTIME_DIR"), os.TempDir())
	}
	s := &supervisor{Store: unitrecord.Store{Folder: folder}, systemd: findSystemd()}
	if id, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		s.boot = strings.TrimSpace(string(id))
	}
	return s
}

// defaultUnits is where records are when nobody said where: a place that a
// restart of the machine empties.
func defaultUnits(uid int, runtime, temp string) string {
	switch {
	case uid == 0:
		return "/run/fulmen/units"
	case runtime != "":
		return filepath.Join(runtime, "fulmen", "units")
	}
	return filepath.Join(temp, fmt.Sprintf("fulmen-%d", uid), "units")
}

// Start runs the unit.
func (s *supervisor) Start(ctx context.Context, unit native.Unit) error {
	r := unitrecord.Record{Label: unit.Label, Socket: unit.Socket, Boot: s.boot}
	if s.systemd != nil {
		r.Unit = unit.Label + ".service"
	}
	return s.Store.Start(ctx, unit, r, func() (err error) {
		unit.Env = append(slices.Clone(unit.Env), unitrecord.Variable+"="+unit.Label)
		if s.systemd != nil {
			r.PID, err = s.systemd.start(ctx, unit)
		} else {
			r.PID, err = detach(unit)
		}
		if err != nil {
			return err
		}
		if p, ok := readProcess(r.PID); ok {
			r.Started = p.Starttime
		}
		// What runs now is found by its variable too: a record that cannot be
		// completed is no reason to lose it.
		_ = s.Set(r)
		return nil
	})
}

// List returns the units of this store.
func (s *supervisor) List(ctx context.Context, prefix string) ([]native.UnitStatus, error) {
	return s.Store.Units(ctx, prefix, func(_ context.Context, r unitrecord.Record) (int, error) { return s.first(r), nil })
}

// first is the unit's first process while it runs, else 0.
func (s *supervisor) first(r unitrecord.Record) int {
	if r.Boot != s.boot {
		return 0
	}
	if r.PID == 0 {
		// The daemon was killed before it knew. The first process is the oldest.
		marked := markedProcesses(r.Label)
		if len(marked) == 0 {
			return 0
		}
		return slices.MinFunc(marked, func(a, b process) int { return cmp.Compare(a.Starttime, b.Starttime) }).PID
	}
	p, ok := readProcess(r.PID)
	switch {
	case !ok || p.Starttime != r.Started:
		return 0
	case !p.over():
		return r.PID
	case p.PPID == os.Getpid():
		// One of this daemon's, or of what it was before it started itself again in its
		// own place: its number is not free before this. Nor is it over as long as one of
		// its threads is not.
		if pid, err := syscall.Wait4(r.PID, nil, syscall.WNOHANG, nil); pid == 0 && err == nil {
			return r.PID
		}
	}
	return 0
}

// Remove kills whatever is left of the unit and forgets it.
func (s *supervisor) Remove(ctx context.Context, label string) error {
	return unitrecord.About(label, s.remove(ctx, label))
}

func (s *supervisor) remove(ctx context.Context, label string) error {
	r, err := s.Store.Get(label)
	if err != nil {
		return err
	}
	if r.Boot == s.boot {
		if r.Unit != "" && s.systemd != nil && s.first(r) != 0 {
			if err := s.systemd.kill(ctx, r.Unit); err != nil {
				return err
			}
		}
		if err := s.end(ctx, r); err != nil {
			return err
		}
	}
	// The socket of a process that was killed stays behind.
	return s.Store.Discard(label, r.Socket)
}

// Forget is Remove of a unit whose program has ended by itself and left nothing.
func (s *supervisor) Forget(ctx context.Context, label string) error {
	r, err := s.Store.Get(label)
	if err != nil {
		return unitrecord.About(label, err)
	}
	late := time.Now().Add(endsItself)
	for first := s.first(r); first != 0; first = s.first(r) {
		if awaitEnd(first); ctx.Err() != nil {
			return unitrecord.About(label, ctx.Err())
		}
		if time.Now().After(late) {
			return s.Remove(ctx, label)
		}
	}
	return unitrecord.About(label, s.Store.Discard(label, r.Socket))
}

// end kills all processes of the unit: first those below the first one, which,
// as their reaper, keeps them together and notes their end; then itself; and
// whatever bears the unit's variable all the while.
func (s *supervisor) end(ctx context.Context, r unitrecord.Record) error {
	ctx, cancel := context.WithTimeout(ctx, removeWithin)
	defer cancel()
	var alone time.Time
	for {
		first := s.first(r)
		rest := unitProcesses(r.Label, first)
		if first == 0 && len(rest) == 0 {
			return nil
		}
		var refused error
		for _, pid := range rest {
			refused = errors.Join(refused, kill(pid))
		}
		if first != 0 && len(rest) == 0 {
			if alone.IsZero() {
				alone = time.Now()
			}
			if time.Since(alone) > endsItself {
				refused = errors.Join(refused, kill(first))
			}
		}
		if refused != nil {
			return refused
		}
		if awaitEnd(append(rest, first)[0]); ctx.Err() != nil {
			return fmt.Errorf("%d of its processes do not end: %w", len(rest)+min(first, 1), ctx.Err())
		}
	}
}

// awaitEnd waits until a process has ended, also one that is no child, but not for long.
func awaitEnd(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil { // it has ended, or the kernel is older than 5.3
		time.Sleep(time.Millisecond)
		return
	}
	defer unix.Close(fd)
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(lookAgain.Milliseconds())) // interrupted, it looks again sooner
}

// kill kills a process; one that is gone is no error.
func kill(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill %d: %w", pid, err)
	}
	return nil
}
