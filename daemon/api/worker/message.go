package worker

import (
	"encoding/json"
	"fmt"
)

// FD is the descriptor on which the worker writes its messages.
const FD = 3

// ProtocolVersion is the version of this protocol, 2026-11-21. The worker
// tells it in [Info].
const ProtocolVersion = 1

// MaxMessageBytes bounds one message, its newline included. A longer line is
// no message of a worker.
const MaxMessageBytes = 1 << 20

// Type says what a message is.
type Type string

// The types of messages. Result and Error end the stream.
const (
	TypeProgress Type = "progress"
	TypeLog      Type = "log"
	TypeResult   Type = "result"
	TypeError    Type = "error"
)

// Command is what a worker was asked to do: the first word of its command
// line.
type Command string

// The worker's commands.
const (
	// CommandInfo tells what MLX finds on this machine: [Info].
	CommandInfo Command = "info"
	// CommandHello joins the group and tells who is in it: [Hello].
	CommandHello Command = "hello"
	// CommandGPU measures matrix multiplication and memory bandwidth: [GPU].
	CommandGPU Command = "gpu"
	// CommandAllReduce measures all_sum by message size: [AllReduce].
	CommandAllReduce Command = "allreduce"
	// CommandSendRecv measures sends between two ranks: [SendRecv].
	CommandSendRecv Command = "sendrecv"
)

// Commands lists the worker's commands.
func Commands() []Command {
	return []Command{CommandInfo, CommandHello, CommandGPU, CommandAllReduce, CommandSendRecv}
}

// Message is one line of the stream. Just one of Progress, Log, Value and
// Error is set, as Type says.
type Message struct {
	Type     Type            `json:"t"`
	Command  Command         `json:"command"`
	Progress *Progress       `json:"progress,omitempty"`
	Log      *Log            `json:"log,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
	Error    *Error          `json:"error,omitempty"`
}

// Progress tells how far a command is.
type Progress struct {
	// Stage is what is done now, a few words for a person.
	Stage string `json:"stage"`
	// DoneRatio is how much of the whole command is done, 0 to 1; it never
	// falls.
	DoneRatio float64 `json:"done_ratio"`
	// ElapsedS is the time since the command began, in seconds.
	ElapsedS float64 `json:"elapsed_s"`
}

// Level is the weight of a log line.
type Level string

// The levels of log lines.
const (
	LevelInfo Level = "info"
	LevelWarn Level = "warn"
)

// Log is a remark for whoever reads the daemon's log.
type Log struct {
	Level Level  `json:"level"`
	Text  string `json:"text"`
}

// Last reports whether the message ends the stream.
func (m Message) Last() bool { return m.Type == TypeResult || m.Type == TypeError }

// Decode reads the result's value into v, which is the command's result type.
func (m Message) Decode(v any) error {
	if m.Type != TypeResult {
		return fmt.Errorf("worker message of type %q has no value", m.Type)
	}
	if err := json.Unmarshal(m.Value, v); err != nil {
		return fmt.Errorf("worker result of %q: %w", m.Command, err)
	}
	return nil
}

// check tells what is wrong with a message of a known type.
func (m Message) check() error {
	missing := func(field string) error {
		return fmt.Errorf("worker message of type %q lacks %q", m.Type, field)
	}
	switch m.Type {
	case "":
		return fmt.Errorf("worker message lacks %q", "t")
	case TypeProgress:
		if m.Progress == nil {
			return missing("progress")
		}
		// Written so that a NaN, were JSON to have one, is refused too.
		if r := m.Progress.DoneRatio; !(r >= 0 && r <= 1) {
			return fmt.Errorf("worker progress: done_ratio is %v, must be 0 to 1", r)
		}
	case TypeLog:
		if m.Log == nil {
			return missing("log")
		}
	case TypeResult:
		if len(m.Value) == 0 {
			return missing("value")
		}
	case TypeError:
		if m.Error == nil {
			return missing("error")
		}
	}
	return nil
}
