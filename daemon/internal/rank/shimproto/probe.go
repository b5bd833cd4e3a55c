package shimproto

import "cmp"

// MaxProbed bounds what is kept of what the command of a probe prints.
const MaxProbed = 4 << 10

// Probe has the shim run a command beside the program, as its account and with its directory
// and environment, and kill it with its group when its time is over. The answer is [Probed].
type Probe struct {
	RequestHeader
	Command  []string `json:"command"`
	TimeoutS float64  `json:"timeout_s"`
}

func (Probe) messageType() string { return "probe" }

func (m Probe) check() error {
	if len(m.Command) == 0 || m.Command[0] == "" {
		return badField("command", "is empty")
	}
	return cmp.Or(m.RequestHeader.check(), checkSeconds("timeout_s", m.TimeoutS, maxGraceS), positive("timeout_s", m.TimeoutS))
}

// Probed says how the command of a probe ended: by itself, or because its time was over.
type Probed struct {
	Re     uint64 `json:"re"`
	Code   *int   `json:"code,omitzero"`
	Signal string `json:"signal,omitzero"`
	// TimedOut says that its time was over.
	TimedOut bool `json:"timed_out,omitzero"`
	// NotStarted is why it did not run.
	NotStarted *Cause `json:"not_started,omitzero"`
	// Printed is the end of what it printed.
	Printed string `json:"printed,omitzero"`
}

func (Probed) messageType() string { return "probed" }

func (m Probed) check() error {
	if m.NotStarted != nil {
		return cmp.Or(checkRe(m.Re), within("not_started", m.NotStarted.Check()))
	}
	return cmp.Or(checkRe(m.Re), checkSignal("signal", m.Signal))
}
