package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api/worker"
)

func TestWrongCommandLines(t *testing.T) {
	for line, names := range map[string]string{
		"":                        "no command",
		"fly":                     `"fly"`,
		"gpu -time 0s":            "-time is 0s",
		"gpu -time 2h":            "-time is 2h",
		"gpu -time soon":          "-time",
		"gpu -device npu":         `-device is "npu"`,
		"gpu extra":               `"extra"`,
		"info -deadline -1s":      "-deadline is -1s",
		"info -verbose":           "-verbose",
		"hello -backend pigeon":   `-backend is "pigeon"`,
		"hello -wait 0s":          "-wait is 0s",
		"allreduce -dtype int8":   `-dtype is "int8"`,
		"allreduce -min-bytes -1": "-min-bytes",
		"sendrecv -max-bytes 1":   "-max-bytes is 1",
		"sendrecv -per-size 0ms":  "-per-size is 0s",
		"hello -messages stderr":  `-messages is "stderr"`,
	} {
		t.Run(line, func(t *testing.T) {
			is := is.New(t)
			_, err := parse(strings.Fields(line))
			var failure *worker.Error
			is.True(errors.As(err, &failure))
			is.Equal(failure.Reason, worker.ReasonUsage)
			is.Equal(failure.ExitStatus(), 2)
			is.True(strings.Contains(failure.Message, names)) // names what is wrong
		})
	}
}

func TestWrongCommandLineIsTold(t *testing.T) {
	is := is.New(t)
	p := start(t, nil, "gpu", "-time", "soon")
	word := p.last()
	is.Equal(word.Error.Reason, worker.ReasonUsage)
	is.Equal(p.status(), 2)
	is.True(strings.Contains(p.stderr.String(), "-time")) // for a person too
}

func TestHelp(t *testing.T) {
	is := is.New(t)
	for _, line := range []string{"help", "-h", "gpu -h"} {
		_, err := parse(strings.Fields(line))
		is.Equal(err, errHelp)
	}
}
