package worker

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestReader(t *testing.T) {
	const progress = `{"t":"progress","command":"gpu","progress":{"stage":"warm-up","done_ratio":0.5,"elapsed_s":1}}` + "\n"
	const result = `{"t":"result","command":"gpu","value":{}}` + "\n"
	for _, test := range []struct {
		name, stream string
		types        []Type
		end          error  // io.EOF or ErrNoLastWord
		text         string // of another error
	}{
		{name: "progress then result", stream: progress + result, types: []Type{TypeProgress, TypeResult}, end: io.EOF},
		{name: "killed in between", stream: progress, types: []Type{TypeProgress}, end: ErrNoLastWord},
		{name: "killed in a line", stream: progress + result[:12], types: []Type{TypeProgress}, text: "line 2"},
		{name: "nothing", end: ErrNoLastWord},
		{name: "unknown type and field", stream: `{"t":"sparkle","n":1}` + "\n" + `{"t":"result","command":"gpu","value":1,"new":2}`, types: []Type{TypeResult}, end: io.EOF},
		{name: "after the last word", stream: result + progress, types: []Type{TypeResult}, end: io.EOF},
		{name: "empty lines", stream: "\n\n" + result, types: []Type{TypeResult}, end: io.EOF},
		{name: "not JSON", stream: "Segmentation fault\n", text: "line 1: no worker message"},
		{name: "no type", stream: "{}\n", text: `lacks "t"`},
		{name: "ratio past 1", stream: strings.Replace(progress, "0.5", "1.5", 1), text: "done_ratio is 1.5"},
		{name: "ratio below 0", stream: strings.Replace(progress, "0.5", "-0.1", 1), text: "done_ratio is -0.1"},
		{name: "no progress", stream: `{"t":"progress"}`, text: `lacks "progress"`},
		{name: "no value", stream: `{"t":"result"}`, text: `lacks "value"`},
		{name: "no error", stream: `{"t":"error"}`, text: `lacks "error"`},
		{name: "no log", stream: `{"t":"log"}`, text: `lacks "log"`},
		{name: "giant line", stream: `{"t":"` + strings.Repeat("x", MaxMessageBytes) + `"}`, text: "longer than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			reader := NewReader(strings.NewReader(test.stream))
			var types []Type
			var err error
			for {
				var message Message
				if message, err = reader.Next(); err != nil {
					break
				}
				types = append(types, message.Type)
			}
			is.Equal(types, test.types)
			if test.text != "" {
				is.True(strings.Contains(err.Error(), test.text)) // says what is wrong
				return
			}
			is.Equal(err, test.end)
		})
	}
}

func TestWriterStopsAfterTheLastWord(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	w := NewWriter(&out)
	is.NoErr(w.Write(Message{Type: TypeError, Error: &Error{Reason: ReasonMLX, Message: "x"}}))
	one := out.String()
	is.NoErr(w.Write(Message{Type: TypeLog, Log: &Log{}}))
	is.Equal(out.String(), one)
}

func TestWriterRefusesWhatAReaderWould(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	w := NewWriter(&out)
	is.True(w.Write(Message{Type: TypeProgress, Progress: &Progress{DoneRatio: 2}}) != nil)
	is.True(w.Write(Message{Type: TypeLog, Log: &Log{Text: strings.Repeat("x", MaxMessageBytes)}}) != nil)
	is.Equal(out.Len(), 0)
}

func TestReaderReportsAFailedRead(t *testing.T) {
	is := is.New(t)
	broken := errors.New("pipe broke")
	_, err := NewReader(io.MultiReader(strings.NewReader("\n"), failing{broken})).Next()
	is.True(errors.Is(err, broken))
}

// failing is a stream that cannot be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// FuzzReader: any bytes give messages that hold to the protocol, and an end.
func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"t":"progress","command":"gpu","progress":{"stage":"x","done_ratio":0.5}}` + "\n" + `{"t":"result","value":{}}`))
	f.Add([]byte(`{"t":"error","error":{"reason":"usage","message":"x"}}` + "\n{"))
	f.Add([]byte("\x00\xff\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		reader := NewReader(bytes.NewReader(stream))
		for {
			message, err := reader.Next()
			if err != nil {
				return
			}
			var out bytes.Buffer
			if err := NewWriter(&out).Write(message); err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
			again, err := NewReader(&out).Next()
			if err != nil || again.Type != message.Type || again.Command != message.Command {
				t.Fatalf("does not read back: %+v, %v", again, err)
			}
		}
	})
}
