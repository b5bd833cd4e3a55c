package main

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api/worker"
)

// toMessages is a reporter that writes messages into a buffer.
func toMessages(out io.Writer) *Reporter {
	return &Reporter{command: worker.CommandGPU, messages: worker.NewWriter(out), err: io.Discard, began: time.Now()}
}

func read(t *testing.T, stream *bytes.Buffer) []worker.Message {
	t.Helper()
	reader := worker.NewReader(stream)
	var all []worker.Message
	for {
		message, err := reader.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, worker.ErrNoLastWord) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, message)
	}
}

func TestProgressNeverFallsAndIsNotAFlood(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	r := toMessages(&out)
	is.Equal(r.Stage(), "start")
	for range 10_000 {
		r.Progress("warm-up", 0.5)
	}
	r.Progress("timing", 0.3) // less than before
	r.Progress("end", 7)      // more than all
	is.Equal(r.Stage(), "end")
	var ratios []float64
	for _, message := range read(t, &out) {
		is.Equal(message.Command, worker.CommandGPU)
		ratios = append(ratios, message.Progress.DoneRatio)
	}
	is.True(len(ratios) < 100) // ten thousand calls
	is.Equal(ratios[0], 0.5)
	is.Equal(ratios[len(ratios)-2:], []float64{0.5, 1})
}

func TestOutcomes(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	r := toMessages(&out)
	is.NoErr(r.Result(worker.Hello{Rank: 1, Size: 2}))
	r.Fail(&worker.Error{Reason: worker.ReasonMLX, Message: "too late"})
	all := read(t, &out)
	is.Equal(len(all), 1) // nothing after the last word
	var hello worker.Hello
	is.NoErr(all[0].Decode(&hello))
	is.Equal(hello, worker.Hello{Rank: 1, Size: 2})
}

func TestForAPerson(t *testing.T) {
	is := is.New(t)
	var out, err bytes.Buffer
	r := &Reporter{command: worker.CommandGPU, out: &out, err: &err, began: time.Now()}
	r.Progress("warm-up", 0)
	r.Progress("warm-up", 0.5)
	r.Fail(&worker.Error{Message: "no device", Remedy: "plug one in"})
	is.Equal(err.String(), "fulmen-rank gpu: warm-up\nfulmen-rank gpu: no device\n  plug one in\n")
	is.NoErr(r.Result(map[string]int{"n": 1}))
	is.Equal(out.String(), "{\n  \"n\": 1\n}\n")
}
