package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fulmen/daemon/internal/rank/shimproto"
	"fulmen/native"
)

const (
	// reserveFile holds room for exit.json on a disk that the program may fill.
	reserveFile  = "exit.reserve"
	reserveBytes = 16 << 10
	// writeAgain is how long after a failure exit.json is tried again.
	writeAgain = time.Second
	// writeTries bounds the attempts: a record that cannot be kept is still told.
	writeTries = 5
)

// reserve sets room aside. That it cannot is no reason not to start, a disk that
// is full now may have room at the end, but that it is there already is: a rank
// is never run twice, whatever a supervisor does after a shim was killed.
func (s *shim) reserve() error {
	file, err := os.OpenFile(filepath.Join(s.folder, reserveFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s was started before", s.spec.Ref)
	}
	if err == nil {
		_, err = file.Write(make([]byte, reserveBytes))
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		s.logf("no room can be set aside for %s: %v", shimproto.ExitFile, err)
	}
	return nil
}

// refuse records that the rank could not be held at all.
func (s *shim) refuse(cause error) error {
	s.record.NotStarted = causeOf(cause)
	s.record.EndedAt = native.Stamp(s.clock.Now())
	_ = os.Remove(filepath.Join(s.folder, reserveFile))
	return errors.Join(cause, shimproto.WriteExit(s.folder, s.record))
}

// setEnd takes down a program's status and usage.
func setEnd(r *shimproto.ExitRecord, status syscall.WaitStatus, usage syscall.Rusage) {
	if status.Signaled() {
		r.Signal, r.CoreDumped = signalName(status.Signal()), status.CoreDump()
	} else {
		code := status.ExitStatus()
		r.Code = &code
	}
	r.Usage = &shimproto.Usage{
		UserS: time.Duration(usage.Utime.Nano()).Seconds(), SystemS: time.Duration(usage.Stime.Nano()).Seconds(),
		MaxRSSBytes: native.MaxRSSBytes(usage.Maxrss), MajorFaults: usage.Majflt,
		VoluntarySwitches: usage.Nvcsw, PreemptiveSwitches: usage.Nivcsw,
	}
}

// finish writes the record once the rest of the output has come.
func (s *shim) finish() {
	if s.finishing {
		return
	}
	s.finishing = true
	for _, timer := range []native.Timer{s.lease, s.kill, s.hang} {
		if timer != nil {
			timer.Stop()
		}
	}
	s.guard.dismiss()
	s.record.EndedAt = native.Stamp(s.clock.Now())
	s.record.ElapsedS = (s.clock.Boot() - s.began).Seconds()
	go func() {
		s.streams.hangUp()
		s.pumps.finish()
		closeFiles(s.streams.input)
		for _, l := range s.logs {
			l.close()
		}
		s.do(func() { s.write(writeTries) })
	}()
}

// write writes exit.json and tells of it.
func (s *shim) write(tries int) {
	s.record.Epoch, s.record.Logs = s.fence.Epoch(), s.logEnds()
	_ = os.Remove(filepath.Join(s.folder, reserveFile))
	err := shimproto.WriteExit(s.folder, s.record)
	if err != nil && tries > 1 {
		if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
			for _, l := range s.logs {
				l.makeRoom()
			}
		}
		s.after(writeAgain, func() { s.write(tries - 1) })
		return
	}
	if err != nil {
		s.logf("%s could not be written: %v", shimproto.ExitFile, err)
	}
	s.phase = shimproto.PhaseExited
	for session := range s.sessions {
		session.sendExit(s)
	}
	s.leave()
}

// leave ends the shim when nobody is connected any more, or after a while.
func (s *shim) leave() {
	if len(s.sessions) == 0 {
		s.finished = true
		return
	}
	s.after(linger, func() { s.finished = true })
}

func (s *shim) logEnds() []shimproto.LogEnd {
	var ends []shimproto.LogEnd
	for _, l := range s.logs {
		ends = append(ends, l.state())
	}
	return ends
}
