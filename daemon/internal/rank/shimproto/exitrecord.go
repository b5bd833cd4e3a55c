package shimproto

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"fulmen/native"
	"fulmen/native/atomicfile"
)

// ExitRecord is how a rank ended: the content of exit.json. Exactly one of
// Code, Signal and NotStarted is there.
type ExitRecord struct {
	Ref
	Epoch int64 `json:"epoch"`
	// PID was the program's; absent when it did not start.
	PID int `json:"pid,omitzero"`

	// Code is the exit status of a program that ended by itself, 0 to 255.
	Code *int `json:"code,omitzero"`
	// Signal is the name of the signal that ended it: "SIGKILL".
	Signal string `json:"signal,omitzero"`
	// CoreDumped is true when the system wrote a core file.
	CoreDumped bool `json:"core_dumped,omitzero"`
	// OutOfMemory is true when the system ended it for want of memory, where the
	// system tells; Signal is SIGKILL then.
	OutOfMemory bool `json:"out_of_memory,omitzero"`
	// NotStarted says why the program could not be executed.
	NotStarted *Cause `json:"not_started,omitzero"`

	// Cause is the first reason for which the shim ended the group: a stop, a
	// lease that ran out. Absent when the program ended by itself.
	Cause *Cause `json:"cause,omitzero"`
	// KilledAfterGrace is true when SIGTERM was not enough for some of the group.
	KilledAfterGrace bool `json:"killed_after_grace,omitzero"`

	StartedAt native.Timestamp `json:"started_at"`
	EndedAt   native.Timestamp `json:"ended_at"`
	// ElapsedS is the time between them, sleep included; the two times can
	// disagree with it when the wall clock was set.
	ElapsedS float64 `json:"elapsed_s"`
	// Usage is of the program and its children that were waited for; absent
	// when it did not start.
	Usage *Usage `json:"usage,omitzero"`
	// Logs are the rank's output files.
	Logs []LogEnd `json:"logs,omitzero"`
}

// Usage is what the program used, as getrusage tells.
type Usage struct {
	UserS              float64 `json:"user_s"`
	SystemS            float64 `json:"system_s"`
	MaxRSSBytes        int64   `json:"max_rss_bytes"`
	MajorFaults        int64   `json:"major_faults"`
	VoluntarySwitches  int64   `json:"voluntary_switches"`
	PreemptiveSwitches int64   `json:"preemptive_switches"`
}

// LogEnd is what became of one output stream.
type LogEnd struct {
	Stream string `json:"stream"` // "stdout" or "stderr"
	File   string `json:"file"`   // its name in the rank's folder, where it is when something was kept
	// WrittenBytes is what the program wrote, KeptBytes what is in the file.
	WrittenBytes int64 `json:"written_bytes"`
	KeptBytes    int64 `json:"kept_bytes"`
	// Problem is why output was lost other than by the cap ("no space left").
	Problem string `json:"problem,omitzero"`
}

var signalName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^SIG[A-Z0-9+]{1,12}$`) })

// Check returns a [FieldError] for the first thing that cannot be.
func (r ExitRecord) Check() error {
	if err := cmp.Or(r.Ref.Check(), checkEpoch(r.Epoch)); err != nil {
		return err
	}
	outcomes := 0
	if r.Code != nil {
		outcomes++
		if *r.Code < 0 || *r.Code > 255 {
			return badField("code", "%d is outside 0 to 255", *r.Code)
		}
	}
	if r.Signal != "" {
		outcomes++
		if err := checkSignal("signal", r.Signal); err != nil {
			return err
		}
	}
	if r.NotStarted != nil {
		outcomes++
		if err := r.NotStarted.Check(); err != nil {
			return within("not_started", err)
		}
	} else if err := checkPID(r.PID); err != nil {
		return err
	}
	if outcomes != 1 {
		return badField("code", "exactly one of code, signal and not_started must be there, not %d", outcomes)
	}
	if r.Cause != nil {
		if err := r.Cause.Check(); err != nil {
			return within("cause", err)
		}
	}
	if r.ElapsedS < 0 {
		return badField("elapsed_s", "is negative")
	}
	if err := r.Usage.check(); err != nil {
		return within("usage", err)
	}
	return checkLogs(r.Logs)
}

// checkSignal is nil for the name of a signal, or none.
func checkSignal(field, name string) error {
	if name != "" && !signalName().MatchString(name) {
		return badField(field, "%.40q is not a name such as SIGKILL", name)
	}
	return nil
}

func (u *Usage) check() error {
	if u == nil {
		return nil
	}
	for _, field := range []struct {
		name  string
		value float64
	}{
		{"user_s", u.UserS}, {"system_s", u.SystemS},
		{"max_rss_bytes", float64(u.MaxRSSBytes)}, {"major_faults", float64(u.MajorFaults)},
		{"voluntary_switches", float64(u.VoluntarySwitches)}, {"preemptive_switches", float64(u.PreemptiveSwitches)},
	} {
		if field.value < 0 {
			return badField(field.name, "is negative")
		}
	}
	return nil
}

func checkLogs(logs []LogEnd) error {
	for i, l := range logs {
		at := fmt.Sprintf("logs[%d]", i)
		switch {
		case l.Stream != "stdout" && l.Stream != "stderr":
			return badField(at+".stream", "%.40q is neither stdout nor stderr", l.Stream)
		case l.File == "":
			return badField(at+".file", "empty")
		case l.WrittenBytes < 0:
			return badField(at+".written_bytes", "is negative")
		case l.KeptBytes < 0 || l.KeptBytes > l.WrittenBytes:
			return badField(at+".kept_bytes", "%d is outside 0 to %d", l.KeptBytes, l.WrittenBytes)
		}
	}
	return nil
}

// WriteExit writes exit.json into the folder. It is on disk when WriteExit returns.
func WriteExit(folder string, r ExitRecord) error {
	if err := r.Check(); err != nil {
		return err
	}
	data, err := encodeFile(ExitFile, r)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteSynced(filepath.Join(folder, ExitFile), data, 0o600); err != nil {
		return err
	}
	// The file is in place; a folder that cannot be synced (some file systems)
	// costs durability over a power cut only.
	if folder, err := os.Open(folder); err == nil {
		folder.Sync()
		folder.Close()
	}
	return nil
}

// ReadExit reads exit.json. fs.ErrNotExist means that the rank has not ended,
// or that its shim was killed: the supervisor knows which.
func ReadExit(folder string) (r ExitRecord, err error) {
	err = readFile(filepath.Join(folder, ExitFile), &r)
	if err == nil {
		err = r.Check()
	}
	return r, err
}
